import { endFields, outerFields, pathOf, runWith } from "./request_fields.ts";
import { beginSpan, idsIn } from "./spans.ts";
import type { Fields, Logger } from "./types.ts";

/** A request that is being answered. */
export interface Answering {
  /** Runs the handler. All loggers add the request's fields to its events. */
  run<T>(handler: (log: Logger) => T): T;
  /** Logs the request, which is a span. A request without a status is an error. */
  end(read: () => Fields & { status?: number }): void;
}

/** What is read of a request. */
export interface Asked {
  readonly method?: string;
  readonly address?: string;
  /** Gets names in lower case. */
  header(name: string): string | null | undefined;
}

/** Returns undefined if `act` throws: a wrapper's own error must not change the answer. */
export function guarded<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

/** Begins a request. Inside of another request or span it is a part of that, unless it was sent with its ids. */
export function begin(log: Logger, read: () => Asked): Answering {
  const asked = guarded(read);
  const header = (name: string) => guarded(() => String(asked?.header(name) ?? "")) ?? "";
  const told = idsIn(header("traceparent"));
  const outer = outerFields();
  // A second wrapper gets the header again, which then has the trace, but not the span around it.
  const isInner = outer?.span_id !== undefined && told.span_id !== outer.span_id &&
    (told.trace_id ?? outer.trace_id) === outer.trace_id;
  const ids = isInner ? outer : { ...told, req_id: told.trace_id };
  const req_id = header("x-request-id").slice(0, 200) || ids.req_id;
  const method = asked?.method ?? "GET";
  const route = guarded(() => pathOf(asked?.address ?? "")) ?? "/";
  const span = beginSpan({ ...ids, req_id });
  const fields = { ...span.ids, route };
  return {
    run: (handler) => runWith(log, fields, handler),
    end(read) {
      endFields(fields);
      const { status, ...more } = guarded(read) ?? {};
      const level = !status || status >= 500 ? "error" : status >= 400 ? "warn" : "info";
      const span_kind = isInner ? "internal" : "server";
      const all = { ...span.end(), span_kind, route, method, status, ...more };
      guarded(() => log[level](`${method} ${route} ${status ?? ""}`.trimEnd(), all));
    },
  };
}

/** Begins a request of the Fetch API. `read` returns it. */
export function beginFetch(log: Logger, read: () => Request): Answering {
  return begin(log, () => {
    const request = read();
    const { method, url } = request;
    return { method, address: url, header: (name) => request.headers.get(name) };
  });
}

/** Answers a request and logs it. `statusOf` returns the status of a thrown value that stands for a response. */
export async function logRequest<Answer extends Response>(
  log: Logger,
  request: Request,
  handler: (log: Logger) => Answer | Promise<Answer>,
  statusOf: (thrown: unknown) => number | undefined = () => undefined,
): Promise<Answer> {
  const { run, end } = beginFetch(log, () => request);
  let response: Answer;
  try {
    response = await run(handler);
  } catch (error) {
    const status = guarded(() => statusOf(error));
    end(() => status ? { status } : { status: 500, error });
    throw error;
  }
  // A handler in JavaScript may return nothing.
  end(() => ({ status: response.status }));
  return response;
}
