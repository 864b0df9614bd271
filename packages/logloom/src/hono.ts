import { beginFetch } from "./request_record.ts";
import type { Logger } from "./types.ts";

/** The parts of Hono's context that are used here. */
export interface HonoContext {
  readonly req: { readonly raw: Request };
  readonly res: Response;
  readonly error?: Error;
}

/** Logs each request: `app.use(logRequests(log))`. */
export function logRequests(
  log: Logger,
): (context: HonoContext, next: () => Promise<void>) => Promise<void> {
  return async (context, next) => {
    const { run, end } = beginFetch(log, context.req.raw);
    try {
      await run(next);
    } catch (error) {
      // Hono passes on thrown values that are not errors.
      end(500, { error });
      throw error;
    }
    end(context.res.status, { error: context.error });
  };
}
