import { type Credentials, faultOfKey, isWellFormedKey, sha256Hex } from "../_shared/auth.ts";
import { notKnown } from "./error_answer.ts";

/**
 * Who reads: an API key or a portal session (by its digest), a user (PostgREST verifies the token), or the holder of a
 * portal link (by the digest of its code). `origin` is the origin of the page that frames the portal, as the portal
 * reports it.
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
    // A gateway exchanges `Bearer sb_…` for a token of the key beside it, which would be this function's own key.
    return /^(?!sb_)[\w-]+\.[\w-]+\.[\w-]+$/.test(value)
      ? { kind: "user", token: value }
      : notKnown("This is neither a Logloom key nor a user's token");
  }
  return digests.has(value) || isWellFormedKey(value)
    ? { kind: "api_key", keyDigest: digestOf(value), ...origin !== null && { origin } }
    : notKnown(faultOfKey(value));
}

/** Digests of recently used keys, because readers repeat their key. */
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
