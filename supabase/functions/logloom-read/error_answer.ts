import { unknownCaller } from "../_shared/errors.ts";
import { challenge, jsonText } from "../_shared/http.ts";

interface Particulars {
  /** The error's name in docs/reference/errors.md, if it is listed there. */
  readonly name?: string;
  readonly hint?: string;
  readonly headers?: Record<string, string>;
}

/** An error in the database's form, so that clients read both alike. */
export function problem(
  status: number,
  message: string,
  { name, hint, headers }: Particulars = {},
): Response {
  const details = name === undefined ? null : `{"name": "${name}"}`;
  const body = { code: `PT${status}`, message, details, hint: hint ?? null };
  return jsonText(status, JSON.stringify(body), {
    ...status === 401 && { "WWW-Authenticate": challenge(false, hint) },
    ...headers,
  });
}

/** A 401; `hint` names the fault of the credentials. */
export function notKnown(hint: string): Response {
  return problem(401, unknownCaller, { name: "callers.not_known", hint });
}
