import { AsyncLocalStorage } from "node:async_hooks";
import { logRequest } from "./log_request.ts";
import { shared } from "./request_fields.ts";
import type { Fields, Logger } from "./types.ts";

/** Makes the storage of the fields that all loggers add. Each wrapper calls this once. */
export function keepFields(): void {
  shared().storage ??= new AsyncLocalStorage<Fields>();
}

/** Wraps a handler. `statusOf` returns the status of a thrown value that stands for a response. */
export function wrapped<R extends Request, Rest extends unknown[], Answer extends Response>(
  log: Logger,
  handler: (request: R, ...rest: Rest) => Answer | Promise<Answer>,
  statusOf: (thrown: unknown) => number | undefined,
): (request: R, ...rest: Rest) => Promise<Answer> {
  keepFields();
  return (request, ...rest) => logRequest(log, request, () => handler(request, ...rest), statusOf);
}
