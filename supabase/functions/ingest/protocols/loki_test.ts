import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { receive } from "../testing_protocols.ts";
import { parseLabels } from "./loki.ts";
import { type Entry, pushed } from "./testing_loki_requests.ts";

const json = { "Content-Type": "application/json" };
const nanos = "1795264496123456000";
const time = "2026-11-21T12:34:56.123456Z";

function push(labels: Record<string, string>, entries: Entry[]): string {
  const values = entries.map(([line, metadata]) => [nanos, line, ...metadata ? [metadata] : []]);
  return JSON.stringify({ streams: [{ stream: labels, values }] });
}

Deno.test("a push arrives the same as JSON and as protobuf: line wins over metadata, metadata over labels", async () => {
  const labels = { app: "shop", level: "error", env: "prod", region: "eu" };
  const entries: Entry[] = [
    ["card declined", { order: "7", region: "us" }],
    ['{"level":30,"msg":"paid","region":"asia","service":"till"}'],
  ];
  const expected = [
    {
      ts: time,
      level: "error",
      msg: "card declined",
      service: "shop",
      env: "prod",
      attrs: { order: "7", region: "us" },
    },
    {
      ts: time,
      level: "info",
      msg: "paid",
      service: "till",
      env: "prod",
      attrs: { region: "asia", original_level: 30 },
    },
  ];
  const text = '{app="shop", level="error",env="prod",region="eu"}';
  for (
    const [headers, body] of [
      [json, push(labels, entries)],
      [{ "Content-Type": "application/x-protobuf" }, pushed(text, entries)],
      [{ "Content-Encoding": "snappy" }, pushed(text, entries)],
      [{ ...json, "Content-Encoding": "gzip" }, new Uint8Array(gzipSync(push(labels, entries)))],
    ] as [Record<string, string>, BodyInit][]
  ) {
    const answer = await receive("/loki/api/v1/push", { headers, body });
    assert.deepEqual([answer.status, answer.text], [204, ""]);
    assert.deepEqual(answer.events, expected);
  }
});

Deno.test("labels are read with the escapes of Go", () => {
  assert.deepEqual(
    parseLabels('{a="x", b.c="say \\"hi\\"\\n", d="\\u00e9\\x41\\U0001F600\\101\\\\", e=""}'),
    { a: "x", "b.c": 'say "hi"\n', d: "éA😀A\\", e: "" },
  );
});

Deno.test("a body that is not a push gets 400 with a text, and agents' probes are answered", async () => {
  for (
    const [headers, body] of [
      [json, "{"],
      [json, "[]"],
      [json, '{"streams":[1]}'],
      [json, '{"streams":[{"values":[7]}]}'],
      [{}, "nonsense"],
      [{}, new Uint8Array([200, 200, 200])],
      [{}, ""],
    ] as [Record<string, string>, BodyInit][]
  ) {
    const { status, text, headers: said } = await receive("/loki/api/v1/push", { headers, body });
    assert.deepEqual([status, text], [400, "The body is not a Loki push request"]);
    assert.match(said.get("content-type") ?? "", /^text\/plain/);
  }
  assert.equal(
    (await receive("/loki/api/v1/push", { headers: json, body: '{"streams":[]}' })).status,
    204,
  );
  assert.equal((await receive("/ready", { method: "GET" })).text, "ready\n");
  const labels = await receive("/loki/api/v1/labels", { method: "GET" });
  assert.deepEqual(JSON.parse(labels.text), { status: "success", data: [] });
});

Deno.test("only Supabase's own drain leaves out requests to ingest", async () => {
  const path = "/functions/v1/ingest";
  const entries: Entry[] = [["POST", { metadata_request_path: path }], [`POST ${path} failed`]];
  for (const [source, kept] of [["supabase", 1], ["nginx", 2]] as const) {
    const answers = [
      await receive("/loki/api/v1/push", { headers: json, body: push({ source }, entries) }),
      await receive("/loki/api/v1/push", { body: pushed(`{source="${source}"}`, entries) }),
    ];
    for (const { status, events } of answers) {
      assert.deepEqual([status, events.length], [204, kept], source);
    }
  }
});

Deno.test("labels that too many entries would copy are refused", async () => {
  const labels = Object.fromEntries(
    Array.from({ length: 900 }, (_, n) => [`label_${n}`, "x".repeat(20)]),
  );
  const body = push(labels, Array.from({ length: 10_000 }, (): Entry => ["a"]));
  assert.equal((await receive("/loki/api/v1/push", { headers: json, body })).status, 413);
});
