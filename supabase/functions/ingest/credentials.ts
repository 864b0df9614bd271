import { Buffer } from "node:buffer";
import type { Credentials } from "../_shared/auth.ts";

export const keyPrefix = "ll_";

/** Names under which webhooks, and beacons that can set no header, carry a key in the address. */
const queryNames = ["api_key", "apikey", "token", "dd-api-key", "DD-API-KEY"];

/**
 * What a request brings to show who it is, the first that is there: headers, the query, what the
 * protocol alone knows. Supabase's `apikey` header is the project's, and ours only where a protocol
 * says so and it holds a key of ours.
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
  for (const name of queryNames) {
    const value = query.get(name);
    if (value) return { kind: "api_key", value };
  }
  return ownKey === undefined ? undefined : { kind: "api_key", value: ownKey };
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
      // Another scheme leaves a value that no key and no token can equal.
      return { kind: "jwt", value: "" };
  }
}

/** Of `user:password` and `id:key` the part that is a key; of two that are, the latter. */
function keyOfPair(pair: string): string {
  const at = pair.indexOf(":");
  if (at === -1) return pair;
  const [first, last] = [pair.slice(0, at), pair.slice(at + 1)];
  return first.startsWith(keyPrefix) && !last.startsWith(keyPrefix) ? first : last;
}

function base64(text: string): string {
  return Buffer.from(text, "base64").toString("latin1");
}
