import { createLocalJWKSet, type JWTVerifyGetKey } from "jose";

/** One state of the set of public keys with which the project's tokens are verified. */
export type KeySet = JWTVerifyGetKey;

export interface SigningKeys {
  /** The set as it was known a few minutes ago. */
  known(): Promise<KeySet>;
  /** As it was at that time or is later, for a token that no key of the known one fits. */
  since(time: number): Promise<KeySet>;
}

/** The set cannot be had: whether a token is good cannot be said. */
export class KeysAway extends Error {
  override readonly name = "KeysAway";
}

/** With the minute for which a verified token is known: a key that left the set is good for ten. */
const maxAgeMs = 540_000;
/** At least so long from one fetch to the next, whatever is asked. */
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
  /** Under way, or waiting for its time: then whoever comes shares it. */
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
    // Nobody waits for what has just failed.
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
    // A body that nobody reads would keep its connection.
    await response.body?.cancel();
    throw new Error(`status ${response.status}`);
  }
  return await response.json();
}
