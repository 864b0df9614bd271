import assert from "node:assert/strict";
import { trickle } from "../../../supabase/functions/_shared/testing.ts";
import { bearer, newTenant } from "../../support/client.ts";
import { stack } from "../../support/stack.ts";

// supabase/functions/ingest/slow_bodies_test.ts has the same test with a shorter limit.
Deno.test("a body that takes longer than 30 seconds is a 408, with a bad token too", async () => {
  const tenant = await newTenant("slow");
  const senders = [
    ["/functions/v1/ingest", tenant.headers],
    ["/functions/v1/ingest", bearer("not.a.token")],
    ["/functions/v1/ingest/lines", { "x-api-key": "ll_nobodys" }],
  ] as const;
  const answers = await Promise.all(
    senders.map(([path, headers]) => trickle(`${stack.url}${path}`, headers, 1_000)),
  );
  for (const { status, body, took } of answers) {
    assert.deepEqual([status, JSON.parse(body)], [408, {
      error: "Request body took longer than 30 seconds",
    }]);
    assert.ok(took > 29_000 && took < 60_000, `${took} ms`);
  }
});

Deno.test("a head that takes longer than 30 seconds ends its connection, even if it arrives steadily", async () => {
  const { hostname, port } = new URL(stack.url);
  using connection = await Deno.connect({ hostname, port: Number(port) });
  const write = (text: string) => connection.write(new TextEncoder().encode(text));
  const began = performance.now();
  await write(`POST /rest/v1/rpc/list_api_keys HTTP/1.1\r\nHost: ${hostname}\r\nX-Slow: `);
  // A write fails once the connection is closed.
  const timer = setInterval(() => {
    write("a").catch(() => clearInterval(timer));
  }, 1_000);
  const chunk = new Uint8Array(4096);
  while (await connection.read(chunk).catch(() => null) !== null);
  clearInterval(timer);
  const took = performance.now() - began;
  assert.ok(took > 29_000 && took < 60_000, `${took} ms`);
});

Deno.test("an operation's body that takes longer than 30 seconds is a 408, whole or in chunks", async () => {
  const url = `${stack.url}/rest/v1/rpc/list_api_keys`;
  const answers = await Promise.all([trickle(url, {}, 1_000), trickle(url, {}, 1_000, "chunked")]);
  for (const { status, body, took } of answers) {
    assert.deepEqual([status, JSON.parse(body)], [408, {
      code: "PT408",
      message: "Request body took longer than 30 seconds",
      details: null,
      hint: null,
    }]);
    assert.ok(took > 29_000 && took < 60_000, `${took} ms`);
  }
});

Deno.test("a body that arrives after its head is answered at once", async () => {
  const { hostname, port } = new URL(stack.url);
  using connection = await Deno.connect({ hostname, port: Number(port) });
  const write = (text: string) => connection.write(new TextEncoder().encode(text));
  const chunk = new Uint8Array(4096);
  const read = async () =>
    new TextDecoder().decode(chunk.subarray(0, await connection.read(chunk) ?? 0));
  await write(
    `POST /rest/v1/rpc/list_api_keys HTTP/1.1\r\nHost: ${hostname}\r\n` +
      "Content-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n",
  );
  assert.match(await read(), /^HTTP\/1\.1 100 /);
  const began = performance.now();
  await write("{}");
  assert.match(await read(), /^HTTP\/1\.1 400 Missing authorization/);
  const took = performance.now() - began;
  assert.ok(took < 20_000, `${took} ms`);
});
