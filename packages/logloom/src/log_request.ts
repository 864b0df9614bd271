import { pathOf } from "./request_fields.ts";
import type { Logger } from "./types.ts";

/** Answers a request and logs method, route, status and duration. */
export async function logRequest(
  logger: Logger,
  request: Request,
  handler: (log: Logger) => Response | Promise<Response>,
): Promise<Response> {
  const { method, headers } = request;
  const route = pathOf(request.url);
  const trace = /^\w\w-(\w{32})-/.exec(headers.get("traceparent") ?? "")?.[1];
  const log = logger.with({ req_id: trace ?? headers.get("x-request-id") ?? undefined, route });
  const began = performance.now();
  const end = (status: number | undefined, more: Record<string, unknown>) => {
    const level = !status || status >= 500 ? "error" : status >= 400 ? "warn" : "info";
    const ms = Math.round(10 * (performance.now() - began)) / 10;
    log[level](`${method} ${route} ${status ?? ""}`.trimEnd(), { method, status, ms, ...more });
  };
  let response: Response;
  try {
    response = await handler(log);
  } catch (error) {
    end(500, { error });
    throw error;
  }
  // A handler in JavaScript may return nothing.
  end(Object(response).status, {});
  return response;
}
