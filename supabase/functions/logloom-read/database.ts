import {
  databaseAway,
  type DatabaseOptions,
  readError,
  readRetryAfter,
  serviceHeaders,
} from "../_shared/database.ts";
import { describeError, logFailure, retrySoon } from "../_shared/errors.ts";
import { challenge, corsHeaders, jsonText } from "../_shared/http.ts";
import type { Reader } from "./caller.ts";
import { problem } from "./problem.ts";

/** Calls a reading operation; `parameters` is the JSON text of an object. */
export type ReadDatabase = (
  reader: Reader,
  operation: string,
  parameters: string,
) => Promise<Response>;

export function createReadDatabase(
  { url, serviceKey, timeoutMs }: DatabaseOptions,
): ReadDatabase {
  const service = serviceHeaders(serviceKey);

  return async (reader, operation, parameters) => {
    const isKey = reader.kind === "api_key";
    let answer: Response;
    try {
      answer = await fetch(`${url}/rest/v1/rpc/${isKey ? "read_logs" : operation}`, {
        method: "POST",
        headers: {
          ...service,
          ...!isKey && { Authorization: `Bearer ${reader.token}` },
          "Content-Type": "application/json",
        },
        body: isKey ? callOf(reader.keyDigest, operation, parameters) : parameters,
        redirect: "error",
        signal: AbortSignal.timeout(timeoutMs),
      });
      if (answer.status === 200) {
        // Whole, because in pieces it waits for a network that waits for more (Nagle).
        return new Response(await answer.arrayBuffer(), {
          headers: { ...corsHeaders, "Content-Type": "application/json" },
        });
      }
      return refused(operation, answer, await answer.text(), isKey);
    } catch (error) {
      logFailure("database call failed", { call: operation, reason: describeError(error) });
      return away();
    }
  };
}

function callOf(keyDigest: string, operation: string, parameters: string): string {
  const call = JSON.stringify({ p_key_digest: keyDigest, p_operation: operation });
  return `${call.slice(0, -1)},"p_parameters":${parameters}}`;
}

/** What our operations refuse is passed on, and what is wrong with the request itself. */
function refused(operation: string, answer: Response, text: string, isKey: boolean): Response {
  const { code, hint } = readError(text);
  // Of a key's request PostgREST sees our call, of which only the parameters can be at fault.
  const isAtFault = answer.status < 500 && (!isKey || /^(22|PGRST102$)/.test(code));
  if (!code.startsWith("PT") && !isAtFault) {
    logFailure("database refused the call", { call: operation, status: answer.status, code });
    return away();
  }
  const retryAfter = readRetryAfter(answer.headers);
  return jsonText(answer.status, text, {
    ...retryAfter !== undefined && { "Retry-After": retryAfter },
    ...answer.status === 401 && { "WWW-Authenticate": challenge(false, hint) },
  });
}

function away(): Response {
  return problem(503, databaseAway, undefined, { "Retry-After": retrySoon() });
}
