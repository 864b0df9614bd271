import { wrapped } from "./request_record.ts";
import type { Logger } from "./types.ts";

export { createLogger, type LoggerOptions } from "./logger.ts";

/** Logs each request that a handler answers: `Deno.serve(logged(log, handler))`. */
export function logged<Rest extends unknown[]>(
  log: Logger,
  handler: (request: Request, ...rest: Rest) => Response | Promise<Response>,
): (request: Request, ...rest: Rest) => Promise<Response> {
  return wrapped(log, handler, () => undefined);
}
