import { unknownCaller } from "../_shared/errors.ts";
import { challenge, jsonText } from "../_shared/http.ts";

interface Particulars {
  /** That of the error in the tables of docs/reference/errors.md, if it is in one. */
  readonly name?: string;
  readonly hint?: string;
  readonly headers?: Record<string, string>;
}

/** An error as the database gives it, so that one client reads both. */
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

/** `hint` says which fault of the credentials it is. */
export function notKnown(hint: string): Response {
  return problem(401, unknownCaller, { name: "callers.not_known", hint });
}
