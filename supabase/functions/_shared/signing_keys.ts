import { createLocalJWKSet, type JWTVerifyGetKey } from "jose";

/** The project's public keys at one moment. */
export type KeySet = JWTVerifyGetKey;

export interface SigningKeys {
  /** The keys as known a few minutes ago. */
  known(): Promise<KeySet>;
  /** The keys as fetched at that time or later, for a token that no known key fits. */
  since(time: number): Promise<KeySet>;
}

/** The keys cannot be read, so the token cannot be checked. */
export class KeysAway extends Error {
  override readonly name = "KeysAway";
}

/** Nine minutes. Verified tokens are cached for one more minute, so a removed key works for ten minutes at most. */
const maxAgeMs = 540_000;
/** The minimum time between two fetches. */
const restMs = 1000;
const timeoutMs = 3000;

export function createSigningKeys(
  url: string,
  now: () => number,
  pause: (ms: number) => Promise<void>,
): SigningKeys {
  let set: { readonly keys: KeySet; readonly asOf: number } | undefined;
  let begunAt = -Infinity;
  let failed: KeysAway | undefined;
  /** The current or next fetch. All waiting callers share it. */
  let underWay: Promise<KeySet> | undefined;
  let waiting: Promise<KeySet> | undefined;

  async function fetchSet(): Promise<KeySet> {
    begunAt = now();
    failed = undefined;
    try {
      set = { keys: createLocalJWKSet(await readSet(url)), asOf: begunAt };
      return set.keys;
    } catch (error) {
      failed = new KeysAway("signing keys cannot be read", { cause: error });
      throw failed;
    }
  }

  async function fetchInTime(): Promise<KeySet> {
    try {
      await underWay?.catch(() => {});
      const rest = begunAt + restMs - now();
      if (rest > 0) await pause(rest);
    } finally {
      waiting = undefined;
    }
    underWay = fetchSet().finally(() => underWay = undefined);
    return await underWay;
  }

  async function renewed(): Promise<KeySet> {
    // A fetch that has just failed is not repeated at once.
    if (failed !== undefined && now() < begunAt + restMs) throw failed;
    return await (waiting ??= fetchInTime());
  }

  return {
    async known() {
      if (set !== undefined && now() < set.asOf + maxAgeMs) return set.keys;
      return await (underWay ?? renewed());
    },
    async since(time) {
      return set !== undefined && set.asOf >= time ? set.keys : await renewed();
    },
  };
}

async function readSet(url: string): Promise<Parameters<typeof createLocalJWKSet>[0]> {
  const response = await fetch(url, {
    headers: { accept: "application/json" },
    redirect: "error",
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (response.status !== 200) {
    // An unread body would keep its connection open.
    await response.body?.cancel();
    throw new Error(`status ${response.status}`);
  }
  return await response.json();
}
