import type { Credentials } from "../_shared/auth.ts";
import type { Bytes } from "./unpacked_bytes.ts";

/** A body of `sendBeacon`, which cannot set headers, begins with the token: `{"token":"llt_…", "events":[…]}`. */
const leadingToken = /^\s*\{\s*"token"\s*:\s*"(llt_[0-9A-Za-z]+)"\s*,/;

/** The token at the beginning of a body, and the body without the token. */
export function takeLeadingToken(
  body: Bytes,
): { readonly credentials: Credentials; readonly body: Bytes } | undefined {
  const [taken, value] = leadingToken.exec(
    new TextDecoder("latin1").decode(body.subarray(0, 200)),
  ) ?? [];
  if (taken === undefined) return undefined;
  const rest = body.slice(taken.length - 1);
  rest[0] = "{".charCodeAt(0);
  return { credentials: { kind: "api_key", value }, body: rest };
}
