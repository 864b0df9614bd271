import assert from "node:assert/strict";
import { createReader } from "../../read/reader.ts";
import { changesOf } from "./changes.ts";

/** Applies no files at a service that gives these answers, and returns how often it was asked. */
async function apply(...answers: Response[]) {
  let asked = 0;
  const fetch = () => Promise.resolve(answers[asked++]);
  const reader = createReader({ url: "http://localhost", token: "a", fetch });
  const { signal } = new AbortController();
  const options = { createsTenants: false, isApplied: true, isPruned: false };
  const comparison = { ...options, reader, signal };
  const changes = changesOf({ items: [], types: [], tenants: new Map() }, undefined, comparison);
  return await changes.then((changes) => ({ changes, asked }), ({ status }) => ({ status, asked }));
}

const refusal = (status: number, headers: HeadersInit = {}) =>
  new Response("{}", { status, headers });

Deno.test("apply waits for another apply, and repeats nothing else", async () => {
  const busy = refusal(429, { "Retry-After": "0.01" });
  assert.deepEqual(await apply(busy, new Response("[]")), { changes: [], asked: 2 });
  assert.deepEqual(await apply(refusal(429)), { status: 429, asked: 1 });
  assert.deepEqual(await apply(refusal(503, { "Retry-After": "1" })), { status: 503, asked: 1 });
  assert.deepEqual(await apply(refusal(429, { "Retry-After": "90" })), { status: 429, asked: 1 });
});
