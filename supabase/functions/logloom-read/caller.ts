import { type Credentials, faultOfKey, isWellFormedKey, sha256Hex } from "../_shared/auth.ts";
import { notKnown } from "./problem.ts";

/**
 * Who reads: an API key or a portal session, by its digest, or a user, whose token PostgREST verifies; or who has the
 * code of a link to a session. `origin` is that of the page that frames the portal, as the portal says.
 */
export type Reader =
  | { readonly kind: "api_key"; readonly keyDigest: string; readonly origin?: string }
  | { readonly kind: "portal_code"; readonly codeDigest: string }
  | { readonly kind: "user"; readonly token: string };

export function readerOf(
  credentials: Credentials | undefined,
  missing: string,
  origin: string | null,
): Reader | Response {
  if (credentials === undefined) return notKnown(missing);
  const { kind, value } = credentials;
  if (kind === "jwt") {
    // Gateways replace `Bearer sb_…` by the role of the key beside it, which is the function's own.
    return /^(?!sb_)[\w-]+\.[\w-]+\.[\w-]+$/.test(value)
      ? { kind: "user", token: value }
      : notKnown("This is neither a key of Logloom nor a user's token");
  }
  return digests.has(value) || isWellFormedKey(value)
    ? { kind: "api_key", keyDigest: digestOf(value), ...origin !== null && { origin } }
    : notKnown(faultOfKey(value));
}

/** Of keys that were used lately: readers repeat the same one. */
const digests = new Map<string, string>();
const maxDigests = 1000;

function digestOf(key: string): string {
  const known = digests.get(key);
  if (known !== undefined) return known;
  if (digests.size >= maxDigests) digests.clear();
  const digest = sha256Hex(key);
  digests.set(key, digest);
  return digest;
}
