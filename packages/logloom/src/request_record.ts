import { AsyncLocalStorage } from "node:async_hooks";
import { type RequestStorage, shared } from "./request_fields.ts";
import type { Fields, Logger } from "./types.ts";

/** A request that is being answered. */
export interface Answering {
  /** Runs the handler. All loggers add the request's fields to its events. */
  run<T>(handler: () => T): T;
  /** Logs the request. */
  end(status: number, more?: Fields): void;
}

const storage: RequestStorage = shared().storage ??= new AsyncLocalStorage<Fields>();

/** Begins a request. `header` gets names in lower case. */
export function begin(
  log: Logger,
  method: string,
  route: string,
  header: (name: string) => string | null | undefined,
): Answering {
  const began = performance.now();
  const trace_id = /^[\da-f]{2}-(?!0{32})([\da-f]{32})-/.exec(header("traceparent") ?? "")?.[1];
  const req_id = header("x-request-id")?.slice(0, 200) || trace_id || crypto.randomUUID();
  const fields: Fields = { req_id, trace_id, route };
  return {
    run: (handler) => storage.run(fields, handler),
    end(status, more) {
      const level = status >= 500 ? "error" : status >= 400 ? "warn" : "info";
      const duration_ms = Math.round(10 * (performance.now() - began)) / 10;
      const all = { ...fields, method, status, duration_ms, ...more };
      log[level](`${method} ${route} ${status}`, all);
    },
  };
}

/** Begins a request of the Fetch API. */
export function beginFetch(log: Logger, { method, url, headers }: Request): Answering {
  return begin(log, method, new URL(url).pathname, (name) => headers.get(name));
}

/** Wraps a handler. `statusOf` returns the status of a thrown value that stands for a response. */
export function wrapped<R extends Request, Rest extends unknown[], Answer extends Response>(
  log: Logger,
  handler: (request: R, ...rest: Rest) => Answer | Promise<Answer>,
  statusOf: (thrown: unknown) => number | undefined,
): (request: R, ...rest: Rest) => Promise<Answer> {
  return async (request, ...rest) => {
    const { run, end } = beginFetch(log, request);
    try {
      const response = await run(() => handler(request, ...rest));
      end(response.status);
      return response;
    } catch (error) {
      const status = statusOf(error);
      if (status) end(status);
      else end(500, { error });
      throw error;
    }
  };
}
