import assert from "node:assert/strict";
import { createClient, type SupabaseClient } from "@supabase/supabase-js";
import {
  type CreatedApiKey,
  createReader,
  type ParametersOf,
  type Reader,
} from "../../packages/logloom/src/read.ts";
import { apiPoolSize } from "../../local/stack.ts";
import { eventually } from "./eventually.ts";
import { stack } from "./stack.ts";
import { userToken } from "./tokens.ts";

export interface Answer<Body = Record<string, unknown>> {
  status: number;
  headers: Headers;
  /** The parsed JSON, or the text of another body. */
  body: Body;
}

/** Sends a request to the gateway and reads the whole answer. */
export async function call<Body = Record<string, unknown>>(
  path: string,
  init: RequestInit = {},
): Promise<Answer<Body>> {
  const response = await fetch(`${stack.url}${path}`, init);
  const text = await response.text();
  let body: unknown = text;
  if (response.headers.get("content-type")?.includes("json") && text !== "") {
    body = JSON.parse(text);
  }
  return { status: response.status, headers: response.headers, body: body as Body };
}

/** Sends events as JSON, or a text or bytes unchanged. */
export function ingest(
  headers: Record<string, string>,
  events: unknown,
  init: RequestInit = {},
): Promise<Answer> {
  const isRaw = typeof events === "string" || events instanceof Uint8Array ||
    events instanceof ReadableStream;
  return call("/functions/v1/ingest", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: isRaw ? events as BodyInit : JSON.stringify(events),
    ...init,
  });
}

export function rpc<Body = Record<string, unknown>>(
  token: string | null,
  operation: string,
  parameters: unknown = {},
  init: RequestInit = {},
): Promise<Answer<Body>> {
  return call(`/rest/v1/rpc/${operation}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(token === null ? {} : { apikey: stack.anonKey, ...bearer(token) }),
    },
    body: JSON.stringify(parameters),
    ...init,
  });
}

export function health(endpoint = "", init: RequestInit = {}): Promise<Answer> {
  return call(`/functions/v1/health${endpoint}`, init);
}

/** Waits until the service is ready, for example after a process was killed. */
export async function isReady(): Promise<void> {
  await eventually("the service is ready", async () => (await health("/ready")).status === 200);
  await hasFreshConnections();
}

/**
 * Waits until PostgREST has replaced each connection that the database has ended. PostgREST uses its connections in
 * turn, and a request on an ended connection fails.
 */
export async function hasFreshConnections(): Promise<void> {
  const token = await userToken({ tenant_id: "none" });
  await eventually("each connection of PostgREST answers", async () => {
    for (let connection = 0; connection < apiPoolSize; connection++) {
      if ((await rpc(token, "list_api_keys")).status !== 200) return false;
    }
    return true;
  });
}

export function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

export function apiKey(key: string): Record<string, string> {
  return { "x-api-key": key };
}

/** Creates supabase-js as in a signed-in user's browser. */
export function supabase(token: string): SupabaseClient {
  return createClient(stack.url, stack.anonKey, { accessToken: () => Promise.resolve(token) });
}

/** Creates the package's client, without retries. */
export function clientOf(token: string): Reader {
  return createReader({ url: stack.url, key: stack.anonKey, token }, { patienceMs: 0 });
}

/** A new tenant with one signed-in user. */
export interface Tenant {
  id: string;
  userId: string;
  token: string;
  headers: Record<string, string>;
}

export async function newTenant(name = "tenant"): Promise<Tenant> {
  const id = `${name}-${crypto.randomUUID()}`;
  const userId = crypto.randomUUID();
  const token = await userToken({ tenant_id: id, sub: userId });
  return { id, userId, token, headers: bearer(token) };
}

export function createKey(
  tenant: Tenant,
  parameters: Partial<ParametersOf<"create_api_key">> = {},
): Promise<CreatedApiKey> {
  return clientOf(tenant.token).call("create_api_key", { p_name: "test", ...parameters });
}

/** Asserts the exact answer. */
export function assertAnswer(answer: Answer<unknown>, status: number, body: unknown): void {
  assert.deepEqual({ status: answer.status, body: answer.body }, { status, body });
}

/** Asserts an operation's error: status, code and message. */
export function assertRpcError(answer: Answer<unknown>, status: number, message: string): void {
  const { code, message: said } = answer.body as Record<string, unknown>;
  assert.deepEqual(
    { status: answer.status, code, message: said },
    { status, code: `PT${status}`, message },
  );
}
