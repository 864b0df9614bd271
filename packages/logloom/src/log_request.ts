import type { Logger } from "./types.ts";

/** Answers a request and logs method, route, status and duration. */
export async function logRequest(
  logger: Logger,
  request: Request,
  handler: (log: Logger) => Response | Promise<Response>,
): Promise<Response> {
  const { method, headers } = request;
  const route = new URL(request.url).pathname;
  const trace = /^\w\w-(\w{32})-/.exec(headers.get("traceparent") ?? "")?.[1];
  const log = logger.with({ req_id: trace ?? headers.get("x-request-id") ?? undefined, route });
  const began = performance.now();
  const end = (status: number, more: Record<string, unknown>) => {
    const level = status >= 500 ? "error" : status >= 400 ? "warn" : "info";
    const ms = Math.round(10 * (performance.now() - began)) / 10;
    log[level](`${method} ${route} ${status}`, { method, status, ms, ...more });
  };
  try {
    const response = await handler(log);
    end(response.status, {});
    return response;
  } catch (error) {
    end(500, { error });
    throw error;
  }
}
