import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import {
  awayMessage,
  databaseAway,
  type DatabaseOptions,
  readError,
  serviceHeaders,
} from "./database.ts";
import { describeError, logFailure, retrySoon, unknownCaller } from "./errors.ts";
import { secretKeyPrefix } from "./secret_keys.ts";
import { challenge, failureResponse, jsonText, methodNotAllowed, preflight } from "./http.ts";
import { bodyTimeoutMs, takeBody, takingBodies } from "./request_body.ts";
import type { SealBinding, SealedSecrets } from "./sealed_secrets.ts";

/** The path of the endpoint that seals secrets. Hosted functions do not see `/functions/v1`. */
const sealPath = /^(?:\/functions\/v1)?\/[\w-]+\/v1\/seal\/?$/;

type Handler = (request: Request) => Promise<Response>;

/** Adds the sealing endpoint to a function's own handler. */
export function besideSealing(seal: Handler, handler: Handler): Handler {
  return (request) =>
    sealPath.test(new URL(request.url).pathname) ? seal(request) : handler(request);
}

export interface SealDependencies extends DatabaseOptions {
  /** Undefined if the function has no key. */
  readonly secrets: SealedSecrets | undefined;
  /** A secret that is sealed here opens only for this purpose. */
  readonly purpose: string;
}

const maxBytes = 65_536;
const maxSecrets = 20;
const maxLength = 4096;
const namePattern = /^[a-z][a-z0-9_.-]{0,99}$/;

/**
 * Seals secrets for an admin, or for the customer of a portal session. Answers `{"p_secrets": {name: text}}` with the
 * sealed texts, which operations accept. Nothing is stored or logged.
 */
export function createSealHandler(dependencies: SealDependencies): Handler {
  return takingBodies(async (request) => {
    const response = await answered(request, dependencies);
    response.headers.set("Cache-Control", "no-store");
    return response;
  });
}

async function answered(request: Request, dependencies: SealDependencies): Promise<Response> {
  if (request.method === "OPTIONS") {
    return preflight("POST", request.headers.get("Access-Control-Request-Headers"));
  }
  if (request.method !== "POST") return methodNotAllowed(request.method, "POST");
  const token = /^bearer +([\w.-]+)$/i.exec(request.headers.get("Authorization")?.trim() ?? "");
  // supabase-js sends a key of the project in both headers.
  const isToken = token !== null && !token[1].startsWith("sb_");
  const apikey = request.headers.get("apikey") ?? token?.[1] ?? "";
  if (!isToken && !apikey.startsWith(secretKeyPrefix)) {
    return refused(400, "Missing authorization header");
  }
  const { secrets, purpose } = dependencies;
  if (secrets === undefined) {
    logFailure("LOGLOOM_SECRETS_KEY is not set", {});
    return refused(503, "Secrets cannot be sealed: the function has no key");
  }
  const text = await readBody(request);
  if (text === undefined) return refused(413, `Request body too large (max ${maxBytes})`);
  const given = readGiven(text);
  if (typeof given === "string") return refused(400, given);
  const service = serviceHeaders(dependencies.serviceKey);
  const parameters = { p_tenant_id: given.tenantId };
  const binding = isToken && portalToken.test(token[1])
    ? await findBinding(
      "read_logs",
      {
        p_key_digest: createHash("sha256").update(token[1]).digest("hex"),
        p_operation: scopeOperation,
        p_origin: request.headers.get("X-Logloom-Origin") ?? undefined,
        p_parameters: { ...parameters, p_purpose: purpose },
      },
      service,
      dependencies,
    )
    : await findBinding(
      scopeOperation,
      parameters,
      isToken ? { ...service, Authorization: `Bearer ${token[1]}` } : serviceHeaders(apikey),
      dependencies,
    );
  if (binding instanceof Response) return binding;
  const sealed: Record<string, string> = {};
  for (const [name, value] of Object.entries(given.secrets)) {
    sealed[name] = await secrets.seal(value, binding);
  }
  return jsonText(200, JSON.stringify({ p_secrets: sealed }));
}

async function readBody(request: Request): Promise<string | undefined> {
  const pieces: Uint8Array[] = [];
  let count = 0;
  const taken = await takeBody(request.body, bodyTimeoutMs, (chunk) => {
    count += chunk.length;
    if (count <= maxBytes) pieces.push(chunk);
  });
  return taken.isWhole && count <= maxBytes ? Buffer.concat(pieces).toString("utf8") : undefined;
}

interface Given {
  readonly tenantId: string | undefined;
  readonly secrets: Readonly<Record<string, string>>;
}

/** The parsed body, or its fault. The text of a fault quotes nothing from the body. */
function readGiven(text: string): Given | string {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return "Invalid JSON";
  }
  if (typeof body !== "object" || body === null || !("p_secrets" in body)) {
    return "Missing required parameter: p_secrets";
  }
  const { p_secrets } = body;
  const tenantId = "p_tenant_id" in body ? body.p_tenant_id ?? undefined : undefined;
  if (tenantId !== undefined && typeof tenantId !== "string") return "p_tenant_id must be a string";
  if (typeof p_secrets !== "object" || p_secrets === null || Array.isArray(p_secrets)) {
    return "p_secrets must be an object of strings";
  }
  const entries = Object.entries(p_secrets);
  if (entries.length < 1 || entries.length > maxSecrets) {
    return `p_secrets must have 1 to ${maxSecrets} members`;
  }
  const secrets: Record<string, string> = {};
  for (const [name, value] of entries) {
    if (!namePattern.test(name)) return "A name in p_secrets is invalid";
    if (typeof value !== "string" || value.length < 1 || value.length > maxLength) {
      return `A secret must be a string of 1 to ${maxLength} characters`;
    }
    secrets[name] = value;
  }
  return { tenantId, secrets };
}

const scopeOperation = "get_log_secret_scope";

const portalToken = /^llp_[0-9A-Za-z]{36}$/;

/** For whom the caller may store secrets. PostgREST verifies a user's token, the database decides. */
async function findBinding(
  operation: string,
  parameters: Record<string, unknown>,
  headers: Record<string, string>,
  { url, timeoutMs, purpose }: SealDependencies,
): Promise<SealBinding | Response> {
  let answer: Response;
  let text: string;
  try {
    answer = await fetch(`${url}/rest/v1/rpc/${operation}`, {
      method: "POST",
      headers: { ...headers, "Content-Type": "application/json" },
      body: JSON.stringify(parameters),
      redirect: "error",
      signal: AbortSignal.timeout(timeoutMs),
    });
    text = await answer.text();
  } catch (error) {
    logFailure("database call failed", {
      call: operation,
      reason: describeError(error),
    });
    return refused(503, databaseAway);
  }
  if (answer.status === 200) {
    const { tenant_id: tenantId, customer } = JSON.parse(text) as {
      tenant_id: string;
      customer: string | null;
    };
    return { tenantId, purpose, customer };
  }
  const { code, message, hint } = readError(text);
  if (answer.status === 401) {
    const response = refused(401, unknownCaller);
    response.headers.set("WWW-Authenticate", challenge(false, hint));
    return response;
  }
  if (code.startsWith("PT")) {
    return refused(answer.status, message, answer.headers.get("Retry-After") ?? undefined);
  }
  logFailure("database refused the call", {
    call: operation,
    status: answer.status,
    code,
  });
  return refused(503, awayMessage(code));
}

function refused(
  status: number,
  error: string,
  retryAfter = status === 503 ? retrySoon() : undefined,
): Response {
  return failureResponse({ status, error, retryAfter });
}
