import { serviceRoleKey } from "../../local/signing_keys.ts";
import type { Body } from "../support/events.ts";
import type { Load } from "../support/load.ts";
import type { BenchStack } from "../support/stack.ts";

/** Bytes of a body: a little less than the limit of a request. */
export const bodyBytes = 490_000;

/** Sends a request's body as the tenant of the benchmark. */
export type Send = (body: Uint8Array) => Promise<Response>;

export function post(url: string, key: string, body: Uint8Array): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: body as BodyInit,
  });
}

/** Creates the key of a tenant on the largest plan, so that the benchmark measures no limit of a plan. */
export async function createKey(bench: BenchStack, tenant: string): Promise<string> {
  const response = await fetch(`${bench.state.url}/rest/v1/rpc/create_api_key`, {
    method: "POST",
    headers: { authorization: `Bearer ${serviceRoleKey}`, "content-type": "application/json" },
    body: JSON.stringify({ p_tenant_id: tenant, p_name: "bench" }),
  });
  await bench.sql`update logloom.tenants set plan_id = 'enterprise' where tenant_id = ${tenant}`;
  return (await response.json()).key_value;
}

export function countEvents(done: Load, bodies: Body[]): number {
  return sumOfFirst(done.answered, bodies.map((body) => body.events));
}

export function countBytes(done: Load, bodies: Body[]): number {
  return sumOfFirst(done.answered, bodies.map(({ bytes }) => bytes));
}

/** Returns the sum of values over `count` requests, which use the bodies in turn. */
function sumOfFirst(count: number, values: number[]): number {
  const turns = Math.floor(count / values.length);
  const sum = (part: number[]) => part.reduce((total, value) => total + value, 0);
  return turns * sum(values) + sum(values.slice(0, count % values.length));
}
