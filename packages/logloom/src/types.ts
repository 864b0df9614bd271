import type { WaitUntil } from "./runtime.ts";

declare global {
  /** Types that name it compile where `lib` lacks `esnext.disposable` too. */
  interface SymbolConstructor {
    readonly asyncDispose: unique symbol;
  }
}

export type Level = "debug" | "info" | "warn" | "error";

/** `req_id`, `user_id`, `route`, `host` and `ts` are fields of a record; the rest is found below `attrs`. */
export type Fields = Record<string, unknown>;

export interface Log {
  (msg: string | Error, fields?: Fields | Error): void;
  /** As pino has it. */
  (fields: Fields | Error, msg?: string): void;
}

/** What a runtime gives with a request, Cloudflare's `ctx` for example. */
export interface RequestContext {
  readonly waitUntil: WaitUntil;
}

export interface Logger {
  readonly debug: Log;
  readonly info: Log;
  readonly warn: Log;
  readonly error: Log;
  /** A logger whose events all have these fields. */
  with(fields: Fields): Logger;
  /** Answers a request and logs it: method, route, status, milliseconds and request id. */
  withRequest(
    request: Request,
    handler: (log: Logger) => Response | Promise<Response>,
    context?: RequestContext,
  ): Promise<Response>;
  /** Logs errors that nobody caught, until the returned function is called. */
  captureErrors(): () => void;
  /** Sends everything logged so far; false if that was not done in so many milliseconds. */
  flush(withinMs?: number): Promise<boolean>;
  [Symbol.asyncDispose](): Promise<void>;
}
