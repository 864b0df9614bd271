import { createHash, timingSafeEqual } from "node:crypto";

export const secretKeyPrefix = "sb_secret_";

/** Compares a value with the project's secret keys in constant time. */
export function createSecretKeys(keys: readonly string[]): (value: string) => boolean {
  const known = keys.map(digestOf);
  return (value) => {
    const digest = digestOf(value);
    return known.filter((one) => timingSafeEqual(one, digest)).length > 0;
  };
}

function digestOf(value: string): Uint8Array {
  return createHash("sha256").update(value).digest();
}
