import type { Caller } from "../_shared/auth.ts";
import type { Failure } from "../_shared/errors.ts";

/** Refusals for the rate that may be repeated for a few seconds without asking the database. */
export interface Holds {
  isEmpty(): boolean;
  remember(caller: Caller, failure: Failure): void;
  find(caller: Caller): Failure | undefined;
}

interface Hold {
  readonly until: number;
  readonly retryAt: number;
  readonly failure: Failure;
}

const maxHolds = 1000;

/** The database says which refusals are held, and for how long, by X-Logloom-Hold. */
export function createHolds(now: () => number = Date.now): Holds {
  const holds = new Map<string, Hold>();
  return {
    isEmpty() {
      for (const [key, { until }] of holds) {
        if (until > now()) break;
        holds.delete(key);
      }
      return holds.size === 0;
    },

    remember(caller, failure) {
      const seconds = Number(failure.notes?.["x-logloom-hold"]);
      if (!(seconds > 0)) return;
      const key = keyOf(caller);
      holds.delete(key);
      // The oldest comes first in a Map.
      for (const oldest of holds.keys()) {
        if (holds.size < maxHolds) break;
        holds.delete(oldest);
      }
      holds.set(key, {
        until: now() + seconds * 1000,
        retryAt: now() + Number(failure.retryAfter) * 1000,
        failure,
      });
    },

    find(caller) {
      const key = keyOf(caller);
      const hold = holds.get(key);
      if (hold === undefined) return undefined;
      if (hold.until <= now()) {
        holds.delete(key);
        return undefined;
      }
      const retryAfter = Math.max(1, Math.ceil((hold.retryAt - now()) / 1000));
      return { ...hold.failure, retryAfter: String(retryAfter) };
    },
  };
}

function keyOf(caller: Caller): string {
  return caller.kind === "api_key" ? `key ${caller.keyDigest}` : `tenant ${caller.tenantId}`;
}
