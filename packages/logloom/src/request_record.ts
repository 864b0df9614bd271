import { AsyncLocalStorage } from "node:async_hooks";
import { pathOf, type RequestStorage, shared } from "./request_fields.ts";
import type { Fields, Logger } from "./types.ts";

/** A request that is being answered. */
export interface Answering {
  /** Runs the handler. All loggers add the request's fields to its events. */
  run<T>(handler: () => T): T;
  /** Logs the request. A request without a status is an error. */
  end(read: () => Fields & { status?: number }): void;
}

/** What is read of a request. */
export interface Asked {
  readonly method?: string;
  readonly address?: string;
  /** Gets names in lower case. */
  header(name: string): string | null | undefined;
}

const storage: RequestStorage = shared().storage ??= new AsyncLocalStorage<Fields>();

/** Returns undefined if `act` throws: a wrapper's own error must not change the answer. */
export function guarded<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

/** Begins a request. */
export function begin(log: Logger, read: () => Asked): Answering {
  const began = performance.now();
  const asked = guarded(read);
  const header = (name: string) => guarded(() => String(asked?.header(name) ?? "")) ?? "";
  const trace_id = /^[\da-f]{2}-(?!0{32})([\da-f]{32})-/.exec(header("traceparent"))?.[1];
  const req_id = header("x-request-id").slice(0, 200) || trace_id || crypto.randomUUID();
  const method = asked?.method ?? "GET";
  const route = guarded(() => pathOf(asked?.address ?? "")) ?? "/";
  const fields: Fields = { req_id, trace_id, route };
  return {
    run: (handler) => storage.run(fields, handler),
    end(read) {
      const { status, ...more } = guarded(read) ?? {};
      const level = !status || status >= 500 ? "error" : status >= 400 ? "warn" : "info";
      const duration_ms = Math.round(10 * (performance.now() - began)) / 10;
      const all = { ...fields, method, status, duration_ms, ...more };
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

/** Wraps a handler. `statusOf` returns the status of a thrown value that stands for a response. */
export function wrapped<R extends Request, Rest extends unknown[], Answer extends Response>(
  log: Logger,
  handler: (request: R, ...rest: Rest) => Answer | Promise<Answer>,
  statusOf: (thrown: unknown) => number | undefined,
): (request: R, ...rest: Rest) => Promise<Answer> {
  return async (request, ...rest) => {
    const { run, end } = beginFetch(log, () => request);
    let response: Answer;
    try {
      response = await run(() => handler(request, ...rest));
    } catch (error) {
      const status = guarded(() => statusOf(error));
      end(() => status ? { status } : { status: 500, error });
      throw error;
    }
    // A handler in JavaScript may return nothing.
    end(() => ({ status: response.status }));
    return response;
  };
}
