import type { Credentials } from "../_shared/auth.ts";
import type { Bytes } from "./bytes.ts";

/** How a body of `sendBeacon` begins, which sends no headers: `{"token":"llt_…", "events":[…]}`. */
const leadingToken = /^\s*\{\s*"token"\s*:\s*"(llt_[0-9A-Za-z]+)"\s*,/;

/** The token at the beginning of a body, and the body without it. */
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
