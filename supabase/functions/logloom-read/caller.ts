import { type Credentials, faultOfKey, isWellFormedKey, sha256Hex } from "../_shared/auth.ts";
import { unknownCaller } from "../_shared/errors.ts";
import { problem } from "./problem.ts";

/** Who reads: an API key, by its digest, or a user, whose token PostgREST verifies. */
export type Reader =
  | { readonly kind: "api_key"; readonly keyDigest: string }
  | { readonly kind: "user"; readonly token: string };

export function readerOf(credentials: Credentials | undefined, missing: string): Reader | Response {
  if (credentials === undefined) return problem(401, unknownCaller, missing);
  const { kind, value } = credentials;
  if (kind === "jwt") {
    return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(value)
      ? { kind: "user", token: value }
      : problem(401, unknownCaller, "This is neither a key of Logloom nor a user's token");
  }
  return isWellFormedKey(value)
    ? { kind: "api_key", keyDigest: sha256Hex(value) }
    : problem(401, unknownCaller, faultOfKey(value));
}
