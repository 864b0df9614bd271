import { findCredentials, whereKeysGo } from "../_shared/credentials.ts";
import { preflight } from "../_shared/http.ts";
import { bodyTimeoutMs, takeBody, takingBodies } from "../_shared/request_body.ts";
import { readerOf } from "./caller.ts";
import type { ReadDatabase } from "./database.ts";
import { operations } from "./operations.ts";
import { problem } from "./problem.ts";

export interface ReadDependencies {
  readonly callDatabase: ReadDatabase;
}

const allowedMethods = "POST, OPTIONS";

/** The parameters of an operation are short; a query has 2,048 bytes at most. */
const maxBodyBytes = 64 * 1024;

/** `POST /v1/<operation>`: the reading operations, with the JSON that they take and give as RPC. */
export function createReadHandler(
  { callDatabase }: ReadDependencies,
): (request: Request) => Promise<Response> {
  return takingBodies(async (request) => {
    const response = await answered(request, callDatabase);
    response.headers.set("Cache-Control", "no-store");
    return response;
  });
}

async function answered(request: Request, callDatabase: ReadDatabase): Promise<Response> {
  const operation = operationOf(new URL(request.url).pathname);
  if (operation === undefined) {
    return problem(404, "There is nothing at this path", "Read by POST /v1/<operation>.");
  }
  if (request.method === "OPTIONS") {
    return preflight(allowedMethods, request.headers.get("Access-Control-Request-Headers"));
  }
  if (request.method !== "POST") {
    return problem(
      405,
      `Method ${request.method} is not allowed here`,
      "Call operations by POST with a JSON object of parameters.",
      { Allow: allowedMethods },
    );
  }
  // A user's token may do more elsewhere, also with functions of the project's own.
  if (!operations.includes(operation)) {
    return problem(
      404,
      `No such reading operation: ${operation}`,
      `What is read by: ${operations.join(", ")}.`,
    );
  }
  // Never from the address, which proxies write down.
  const credentials = findCredentials(request.headers, new URLSearchParams(), undefined);
  const reader = readerOf(
    credentials,
    whereKeysGo(request.headers, new URL(request.url).searchParams),
  );
  if (reader instanceof Response) return reader;
  const parameters = await parametersOf(request);
  if (parameters instanceof Response) return parameters;
  return await callDatabase(reader, operation, parameters);
}

/** Hosted functions do not see `/functions/v1`; a project may name the function as it likes. */
function operationOf(path: string): string | undefined {
  return /^(?:\/functions\/v1)?\/[\w-]+\/v1\/([a-z_]{1,60})\/?$/.exec(path)?.[1];
}

/** The JSON text of the parameters. */
async function parametersOf(request: Request): Promise<string | Response> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  const taken = await takeBody(request.body, bodyTimeoutMs, (chunk) => {
    length += chunk.length;
    if (length <= maxBodyBytes) chunks.push(chunk);
  });
  if (taken.isLate) return problem(408, "The body took too long");
  if (length > maxBodyBytes) {
    return problem(413, `The body is too large: more than ${maxBodyBytes} bytes`);
  }
  if (length === 0) return "{}";
  try {
    const bytes = await new Blob(chunks).arrayBuffer();
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    const parameters: unknown = JSON.parse(text);
    if (typeof parameters === "object" && parameters !== null && !Array.isArray(parameters)) {
      return text;
    }
  } catch {
    return problem(400, "The body is no JSON", "Send the parameters as a JSON object.");
  }
  return problem(400, "Invalid parameters: send a JSON object", "{} where there are none.");
}
