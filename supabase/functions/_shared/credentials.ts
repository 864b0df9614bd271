import { Buffer } from "node:buffer";
import { type Credentials, hasKeyPrefix, portalPrefix, tokenPrefix } from "./auth.ts";
import { secretKeyPrefix } from "./secret_keys.ts";

/** Query parameters that may hold the key, for webhooks that cannot set a header. */
const queryNames = ["api_key", "apikey", "token", "dd-api-key", "DD-API-KEY"];

/**
 * Finds the first credentials of a request: in headers, in the query, or in the protocol's own place. The header
 * `apikey` is Supabase's: it counts if it holds a secret key of the project, or if the protocol allows it and it holds
 * a Logloom key. Secret keys, ingest and portal tokens are never taken from the address, because proxies log it.
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
    if (value && mayStandInAddresses(value)) return { kind: "api_key", value };
  }
  return ownKey === undefined || !mayStandInAddresses(ownKey)
    ? undefined
    : { kind: "api_key", value: ownKey };
}

function mayStandInAddresses(value: string): boolean {
  return !value.startsWith(secretKeyPrefix) && !value.startsWith(tokenPrefix) &&
    !value.startsWith(portalPrefix);
}

/** The hint for a request without credentials. */
export function whereKeysGo(headers: Headers, query: URLSearchParams): string {
  if ([...query.values()].some((value) => value.startsWith(tokenPrefix))) {
    return "An ingest token is not taken from an address: send it as Authorization: Bearer";
  }
  if (headers.has("X-GitHub-Event")) {
    return "Set the webhook's secret, and name the API key by ?key_id= in its address";
  }
  const place = "send the key as X-API-Key, or as Authorization: Bearer";
  return hasKeyPrefix(headers.get("apikey") ?? "")
    ? `The header apikey is Supabase's: ${place}`
    : `No API key or token: ${place}`;
}

function ofAuthorization(authorization: string): Credentials {
  if (hasKeyPrefix(authorization)) return { kind: "api_key", value: authorization };
  const [, scheme = "", value = ""] = /^(\S+) +(\S+)$/.exec(authorization) ?? [];
  switch (scheme.toLowerCase()) {
    case "bearer":
      return { kind: hasKeyPrefix(value) ? "api_key" : "jwt", value };
    case "basic":
      return { kind: "api_key", value: keyOfPair(base64(value)) };
    case "splunk":
      return { kind: "api_key", value };
    case "apikey":
      return { kind: "api_key", value: hasKeyPrefix(value) ? value : keyOfPair(base64(value)) };
    default:
      // An unknown scheme gives an empty value, which is never a valid key or token.
      return { kind: "jwt", value: "" };
  }
}

/** Returns the part of `user:password` or `id:key` that is a key: the first part only if it alone looks like one. */
function keyOfPair(pair: string): string {
  const at = pair.indexOf(":");
  if (at === -1) return pair;
  const [first, last] = [pair.slice(0, at), pair.slice(at + 1)];
  return hasKeyPrefix(first) && !hasKeyPrefix(last) ? first : last;
}

function base64(text: string): string {
  return Buffer.from(text, "base64").toString("latin1");
}
