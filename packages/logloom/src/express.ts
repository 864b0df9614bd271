import { begin, guarded } from "./log_request.ts";
import { keepFields } from "./request_record.ts";
import type { Fields, Logger } from "./types.ts";

/** The parts of a request of Node that are used here. */
export interface NodeRequest {
  readonly method?: string;
  readonly url?: string;
  /** The address before a router removed its own path. */
  readonly originalUrl?: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** The parts of a response of Node that are used here. */
export interface NodeResponse {
  readonly statusCode: number;
  readonly headersSent: boolean;
  readonly writableFinished: boolean;
  on(event: "close", listener: () => void): unknown;
}

/** Takes the error of a request. */
const takers = new WeakMap<object, (error: unknown) => void>();

/** Logs each request when its response ends: `app.use(logRequests(log))` before the routes. */
export function logRequests(
  log: Logger,
): (request: NodeRequest, response: NodeResponse, next: () => void) => void {
  keepFields();
  return (request, response, next) => {
    // A logger of the app logs what one of its routers sees too.
    if (takers.has(request)) return next();
    const { run, end } = begin(log, () => {
      const { method, url, originalUrl = url, headers } = request;
      return { method, address: originalUrl, header: (name) => headers[name]?.toString() };
    });
    let thrown: Fields | undefined;
    let isOver = false;
    guarded(() => {
      takers.set(request, (error) => {
        // It is too late for a status that tells of this error.
        if (isOver || response.headersSent) guarded(() => log.error(error as Error));
        else thrown = { error };
      });
      response.on("close", () => {
        isOver = true;
        end(() => {
          // 499: the client went away before the response began, as in nginx's logs.
          const status = response.headersSent ? response.statusCode : thrown ? 500 : 499;
          return { status, aborted: response.writableFinished ? undefined : true, ...thrown };
        });
      });
    });
    run(() => next());
  };
}

/** Adds the error to the record of its request: `app.use(logErrors)` after the routes. */
export function logErrors(
  error: unknown,
  request: NodeRequest,
  _response: NodeResponse,
  next: (error: unknown) => void,
): void {
  takers.get(request)?.(error);
  next(error);
}
