import {
  awayMessage,
  type DatabaseOptions,
  isAway,
  readError,
  readRetryAfter,
  serviceHeaders,
} from "../_shared/database.ts";
import { describeError, logFailure, retrySoon } from "../_shared/errors.ts";
import { challenge, corsHeaders, jsonText } from "../_shared/http.ts";
import type { Reader } from "./reader.ts";
import { problem } from "./error_answer.ts";

/** Calls a reading operation; `parameters` is the JSON text of an object. */
export type ReadDatabase = (
  reader: Reader,
  operation: string,
  parameters: string,
) => Promise<Response>;

const maxAnswerBytes = 10 * 1024 * 1024;

export function createReadDatabase({ url, serviceKey, timeoutMs }: DatabaseOptions): ReadDatabase {
  const service = serviceHeaders(serviceKey);

  return async (reader, operation, parameters) => {
    const isKey = reader.kind !== "user";
    const { name, body } = callOf(reader, operation, parameters);
    let answer: Response;
    try {
      answer = await fetch(`${url}/rest/v1/rpc/${name}`, {
        method: "POST",
        headers: {
          ...service,
          ...reader.kind === "user" && { Authorization: `Bearer ${reader.token}` },
          "Content-Type": "application/json",
        },
        body,
        redirect: "error",
        signal: AbortSignal.timeout(timeoutMs),
      });
      if (answer.status === 200) {
        // One piece: small pieces would be delayed by the network (Nagle's algorithm).
        const body = await wholeOf(answer, operation === "export_logs" ? Infinity : maxAnswerBytes);
        return body === undefined ? tooLarge() : new Response(body, {
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

/** The bytes of an answer; undefined if it has more than `most`. */
async function wholeOf(answer: Response, most: number): Promise<BodyInit | undefined> {
  // Reading it in one piece costs less.
  if (Number(answer.headers.get("Content-Length") ?? Infinity) <= most) {
    return await answer.arrayBuffer();
  }
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for await (const chunk of answer.body ?? []) {
    length += chunk.length;
    // Leaving the loop ends the connection.
    if (length > most) return undefined;
    chunks.push(chunk);
  }
  return chunks.length === 1 ? chunks[0] : await new Blob(chunks).arrayBuffer();
}

function tooLarge(): Response {
  return problem(
    400,
    `The answer is too large: more than ${maxAnswerBytes} bytes`,
    { hint: "Narrow the query or the range, or ask for fewer." },
  );
}

/** The database function that answers, and its parameters. */
function callOf(reader: Reader, operation: string, parameters: string) {
  switch (reader.kind) {
    case "user":
      return { name: operation, body: parameters };
    case "portal_code":
      return { name: operation, body: JSON.stringify({ p_code_digest: reader.codeDigest }) };
    case "api_key": {
      const call = JSON.stringify({
        p_key_digest: reader.keyDigest,
        p_operation: operation,
        ...reader.origin !== undefined && { p_origin: reader.origin },
      });
      return { name: "read_logs", body: `${call.slice(0, -1)},"p_parameters":${parameters}}` };
    }
  }
}

/** The answer to a refused call: refusals by our operations and faults of the request pass unchanged. */
function refused(operation: string, answer: Response, text: string, isKey: boolean): Response {
  const { code, hint } = readError(text);
  const isOurs = code !== "not JSON" && code !== "none";
  // For a key, PostgREST gets a call that we wrote: only its parameters can be the sender's fault.
  const isAtFault = isOurs && answer.status < 500 && (!isKey || /^(22|PGRST102$)/.test(code));
  if (!code.startsWith("PT") && (!isAtFault || isAway(code))) {
    logFailure("database refused the call", { call: operation, status: answer.status, code });
    // A statement that is invalid or too large for PostgreSQL fails again: no retry.
    return /^(42601$|54)/.test(code) ? problem(500, "This request cannot be answered") : away(code);
  }
  const retryAfter = readRetryAfter(answer.headers);
  return jsonText(answer.status, text, {
    ...retryAfter !== undefined && { "Retry-After": retryAfter },
    ...answer.status === 401 && { "WWW-Authenticate": challenge(false, hint) },
  });
}

function away(code = ""): Response {
  return problem(503, awayMessage(code), { headers: { "Retry-After": retrySoon() } });
}
