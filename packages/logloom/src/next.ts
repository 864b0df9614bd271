import { wrapped } from "./request_record.ts";
import type { Logger } from "./types.ts";

/** Logs each request that a route handler answers: `export const GET = logged(log, handler)`. */
export function logged<R extends Request, Rest extends unknown[]>(
  log: Logger,
  handler: (request: R, ...rest: Rest) => Response | Promise<Response>,
): (request: R, ...rest: Rest) => Promise<Response> {
  return wrapped(log, handler, statusOf);
}

/** `redirect()`, `notFound()` and the like throw; the digest has the status. */
function statusOf(thrown: unknown): number | undefined {
  const { digest } = Object(thrown) as { digest?: unknown };
  const found = /^NEXT_(?:HTTP_ERROR_FALLBACK|REDIRECT;.*);(\d{3})\b/s.exec(String(digest));
  return found ? Number(found[1]) : undefined;
}
