import { beginFetch } from "./log_request.ts";
import { keepFields } from "./request_record.ts";
import type { Logger } from "./types.ts";

/** The parts of Hono's context that are used here. */
export interface HonoContext {
  readonly req: { readonly raw: Request };
  readonly res: Response;
  /** Whether `res` was set. Else reading `res` makes one, and Hono answers with an error. */
  readonly finalized: boolean;
  readonly error?: Error;
}

/** The requests that a logger of the app logs, so that one of a part of the app does not. */
const taken = new WeakSet<HonoContext>();

/** Logs each request: `app.use(logRequests(log))`. */
export function logRequests(
  log: Logger,
): (context: HonoContext, next: () => Promise<void>) => Promise<void> {
  keepFields();
  return async (context, next) => {
    if (taken.has(context)) return await next();
    taken.add(context);
    const { run, end } = beginFetch(log, () => context.req.raw);
    try {
      await run(() => next());
    } catch (error) {
      // Hono passes on thrown values that are not errors.
      end(() => ({ status: 500, error }));
      throw error;
    }
    end(() => ({ status: context.finalized ? context.res.status : 500, error: context.error }));
  };
}
