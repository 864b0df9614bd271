import { Buffer } from "node:buffer";
import type { Credentials } from "./auth.ts";
import { secretKeyPrefix } from "./secret_keys.ts";

export const keyPrefix = "ll_";

/** Names of the key in the address, for webhooks and beacons that cannot set a header. */
const queryNames = ["api_key", "apikey", "token", "dd-api-key", "DD-API-KEY"];

/**
 * The first credentials of a request: in headers, the query, or where the protocol puts them. The header `apikey` is
 * Supabase's: it counts with a secret key of the project, or if the protocol says so and it holds one of our keys. A
 * secret key is never taken from an address, which proxies write down.
 */
export function findCredentials(
  headers: Headers,
  query: URLSearchParams,
  ownKey: string | undefined,
): Credentials | undefined {
  const header = headers.get("X-API-Key") || headers.get("DD-API-KEY");
  if (header) return { kind: "api_key", value: header };
  const authorization = headers.get("Authorization");
  if (authorization) return ofAuthorization(authorization.trim());
  const apikey = headers.get("apikey");
  if (apikey?.startsWith(secretKeyPrefix)) return { kind: "api_key", value: apikey };
  for (const name of queryNames) {
    const value = query.get(name);
    if (value && !value.startsWith(secretKeyPrefix)) return { kind: "api_key", value };
  }
  return ownKey === undefined ? undefined : { kind: "api_key", value: ownKey };
}

/** For a request without credentials. */
export function whereKeysGo(headers: Headers): string {
  const place = "send the key as X-API-Key, or as Authorization: Bearer";
  return headers.get("apikey")?.startsWith(keyPrefix)
    ? `The header apikey is Supabase's: ${place}`
    : `Nobody is named: ${place}`;
}

function ofAuthorization(authorization: string): Credentials {
  if (authorization.startsWith(keyPrefix)) return { kind: "api_key", value: authorization };
  const [, scheme = "", value = ""] = /^(\S+) +(\S+)$/.exec(authorization) ?? [];
  switch (scheme.toLowerCase()) {
    case "bearer":
      return { kind: value.startsWith(keyPrefix) ? "api_key" : "jwt", value };
    case "basic":
      return { kind: "api_key", value: keyOfPair(base64(value)) };
    case "splunk":
      return { kind: "api_key", value };
    case "apikey":
      return {
        kind: "api_key",
        value: value.startsWith(keyPrefix) ? value : keyOfPair(base64(value)),
      };
    default:
      // Another scheme leaves a value that equals no key and no token.
      return { kind: "jwt", value: "" };
  }
}

/** The part of `user:password` or `id:key` that is a key; if both are, the latter. */
function keyOfPair(pair: string): string {
  const at = pair.indexOf(":");
  if (at === -1) return pair;
  const [first, last] = [pair.slice(0, at), pair.slice(at + 1)];
  return first.startsWith(keyPrefix) && !last.startsWith(keyPrefix) ? first : last;
}

function base64(text: string): string {
  return Buffer.from(text, "base64").toString("latin1");
}
