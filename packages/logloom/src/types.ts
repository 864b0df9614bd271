import type { WaitUntil } from "./runtime.ts";

declare global {
  /** This declaration makes the types compile where `lib` lacks `esnext.disposable`. */
  interface SymbolConstructor {
    readonly asyncDispose: unique symbol;
  }
}

export type Level = "debug" | "info" | "warn" | "error";

/**
 * `req_id`, `user_id`, `route`, `host` and `ts` are fields of a record. All other members become attributes (`attrs`).
 */
export type Fields = Record<string, unknown>;

export interface Log {
  (msg: string | Error, fields?: Fields | Error): void;
  /** The order of pino's parameters. */
  (fields: Fields | Error, msg?: string): void;
}

/** The object that a runtime passes with a request, such as Cloudflare's `ctx`. */
export interface RequestContext {
  readonly waitUntil: WaitUntil;
}

export interface Logger {
  readonly debug: Log;
  readonly info: Log;
  readonly warn: Log;
  readonly error: Log;
  /** Returns a logger that adds these fields to all events. */
  with(fields: Fields): Logger;
  /**
   * Runs `act` and logs it as a span when it ends: its name, start and duration, and as an error what it throws. `act`
   * gets a logger. Its events and spans belong to this span, on a server those of all loggers.
   */
  span<T>(name: string, act: (log: Logger) => T | PromiseLike<T>, fields?: Fields): Promise<T>;
  /** The header `traceparent` for a request to another service; none outside of spans. */
  traceHeaders(): Record<string, string>;
  /** Answers a request and logs it: method, route, status, milliseconds and request id. */
  withRequest(
    request: Request,
    handler: (log: Logger) => Response | Promise<Response>,
    context?: RequestContext,
  ): Promise<Response>;
  /** Logs uncaught errors. The returned function ends this. */
  captureErrors(): () => void;
  /** Sends everything logged so far. False if it takes longer than `withinMs`. */
  flush(withinMs?: number): Promise<boolean>;
  [Symbol.asyncDispose](): Promise<void>;
}
