import { type Caller, callerKey } from "../_shared/auth.ts";
import type { Failure, Notes } from "../_shared/errors.ts";

/** Remembers rate limit refusals, which are repeated for a few seconds without asking the database. */
export interface RateLimitCache {
  isEmpty(): boolean;
  remember(caller: Caller, notes: Notes | undefined): void;
  find(caller: Caller): Failure | undefined;
}

interface Hold {
  readonly until: number;
  readonly retryAt: number;
  readonly limit: string;
  readonly error: string;
}

const maxHolds = 1000;

/** The database's header X-Logloom-Hold says how long it would refuse the caller's requests, and with which message. */
export function createRateLimitCache(now: () => number = Date.now): RateLimitCache {
  const holds = new Map<string, Hold>();
  return {
    isEmpty() {
      for (const [key, { until }] of holds) {
        if (until > now()) break;
        holds.delete(key);
      }
      return holds.size === 0;
    },

    remember(caller, notes) {
      const note = notes?.["x-logloom-hold"];
      if (note === undefined) return;
      const { seconds, retry_after: retryAfter, limit, error } = JSON.parse(note);
      const key = callerKey(caller);
      holds.delete(key);
      // A Map lists the oldest entry first.
      for (const oldest of holds.keys()) {
        if (holds.size < maxHolds) break;
        holds.delete(oldest);
      }
      holds.set(key, {
        until: now() + seconds * 1000,
        retryAt: now() + retryAfter * 1000,
        limit: String(limit),
        error: String(error),
      });
    },

    find(caller) {
      const key = callerKey(caller);
      const hold = holds.get(key);
      if (hold === undefined) return undefined;
      if (hold.until <= now()) {
        holds.delete(key);
        return undefined;
      }
      return {
        status: 429,
        error: hold.error,
        retryAfter: String(Math.max(1, Math.ceil((hold.retryAt - now()) / 1000))),
        notes: {
          "x-ratelimit-limit": hold.limit,
          "x-ratelimit-remaining": "0",
          "x-ratelimit-reset": String(Math.ceil(hold.retryAt / 1000)),
        },
      };
    },
  };
}
