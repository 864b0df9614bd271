import { challenge, jsonText } from "../_shared/http.ts";

/** An error as the database gives it, so that one client reads both. */
export function problem(
  status: number,
  message: string,
  hint?: string,
  headers: Record<string, string> = {},
): Response {
  const body = { code: `PT${status}`, message, details: null, hint: hint ?? null };
  return jsonText(status, JSON.stringify(body), {
    ...status === 401 && { "WWW-Authenticate": challenge(false, hint) },
    ...headers,
  });
}
