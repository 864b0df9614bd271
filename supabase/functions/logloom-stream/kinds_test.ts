import assert from "node:assert/strict";
import type { OutgoingAnswer, OutgoingRequest } from "../_shared/outgoing.ts";
import { readBatch } from "./batch.ts";
import { sendBatch } from "./kinds.ts";
import type { Outcome } from "./outcome.ts";

const ids = ["01a214d6-2dab-7f51-afd4-000000000001", "01a214d6-2dab-7f51-afd4-000000000002"];
const records = [
  `{"id":"${ids[0]}","ts":"2026-11-25T22:31:50.44317+00:00","received_at":` +
  '"2026-11-25T22:31:51+00:00","level":"error","msg":"a ,\\"attrs\\": b","service":"shop",' +
  '"attrs":{"n": 12345678901234567890, "f": 0.5, "list": [null, true, {"k": "v"}]}}',
  `{"id":"${ids[1]}","ts":"2026-11-25T22:31:52+00:00"}`,
];

/** The database's answer with a batch of these records. */
function answerWith(kind: string, config: Record<string, string>, attempt = 0): string {
  const batch = {
    stream_id: "s",
    tenant_id: "acme",
    kind,
    config,
    secrets: {},
    batch_id: "b-1",
    made_at: "2026-11-25T22:32:00.5+00:00",
    attempt,
    is_test: false,
    hops: 2,
    records: records.length,
  };
  return `{"batch":${JSON.stringify(batch)},"records":[\n${records.join(",\n")}\n]}`;
}

/** What a kind sends, and what it makes of an answer. */
async function sent(
  kind: string,
  config: Record<string, string>,
  secrets: Record<string, string> = {},
  answer: Partial<OutgoingAnswer> & { text?: string } = {},
  attempt = 0,
): Promise<{ request: OutgoingRequest; body: string; outcome: Outcome }> {
  const batch = readBatch(answerWith(kind, config, attempt));
  assert.ok(batch);
  let request: OutgoingRequest | undefined;
  const outcome = await sendBatch(batch, secrets, (made) => {
    request = made;
    return Promise.resolve({
      status: answer.status ?? 200,
      headers: answer.headers ?? new Map(),
      body: new TextEncoder().encode(answer.text ?? ""),
    });
  }, () => new Date("2026-11-25T22:32:01Z"));
  assert.ok(request);
  return { request, body: new TextDecoder().decode(request.body), outcome };
}

const url = "https://example.com/in?x=1";
const bucket = {
  endpoint: "https://s3.example.com",
  region: "r",
  bucket: "b",
  access_key_id: "a",
};

Deno.test("a batch keeps its records as texts", () => {
  const batch = readBatch(answerWith("webhook", { url }));
  assert.deepEqual(batch?.records, records);
  assert.equal(readBatch("null"), undefined);
});

Deno.test("every push has the batch's id and hops, and the secret headers", async () => {
  const { request, body } = await sent("webhook", { url }, { "header.x-team": "shop" });
  assert.deepEqual({ ...request.headers }, {
    "User-Agent": "Logloom",
    "Content-Type": "application/json",
    "Idempotency-Key": "b-1",
    "Logloom-Stream-Batch": "b-1",
    "Logloom-Stream-Hops": "2",
    "x-team": "shop",
  });
  assert.equal(body, `[${records.join(",\n")}]`);
});

Deno.test("no secret header takes the place of one that a batch has", async () => {
  const secrets = { "header.logloom-stream-hops": "0", "header.dd-api-key": "x", api_key: "k" };
  const { request } = await sent("datadog", { url }, secrets);
  assert.deepEqual(
    Object.entries(request.headers).filter(([name]) => /hops|api-key/i.test(name)),
    [["Logloom-Stream-Hops", "2"], ["DD-API-KEY", "k"]],
  );
  const alone = await sent("datadog", { url }, { "header.dd-api-key": "x" });
  assert.equal(alone.request.headers["dd-api-key"], "x");
});

Deno.test("Elasticsearch gets a create action for each record, under its id", async () => {
  const { request, body } = await sent("elasticsearch", { url, index: "logs" });
  assert.equal(request.url, `${url}&filter_path=errors,items.*.status`);
  const lines = body.trimEnd().split("\n");
  assert.deepEqual(JSON.parse(lines[0]), { create: { _index: "logs", _id: ids[0] } });
  assert.ok(
    lines[1].startsWith(`{"@timestamp":"2026-11-25T22:31:50.44317+00:00","id":"${ids[0]}"`),
  );
  assert.deepEqual(JSON.parse(lines[3]), { "@timestamp": "2026-11-25T22:31:52+00:00", id: ids[1] });
});

Deno.test("Elasticsearch says of each record what became of it", async () => {
  const config = { url, index: "logs" };
  const outcomeOf = async (...statuses: number[]) => {
    const items = statuses.map((status) => ({ create: { status } }));
    const text = JSON.stringify({ errors: statuses.some((status) => status > 299), items });
    return (await sent("elasticsearch", config, {}, { text })).outcome;
  };
  assert.deepEqual(await outcomeOf(201, 201), { outcome: "delivered", status: 200 });
  assert.deepEqual(await outcomeOf(409, 400), {
    outcome: "delivered",
    status: 200,
    refused: [{ id: ids[1], ts: "2026-11-25T22:31:52+00:00", status: 400 }],
  });
  const passing = await outcomeOf(201, 429);
  assert.deepEqual([passing.outcome, passing.status], ["retry", 429]);
  const closed = await outcomeOf(403, 403);
  assert.deepEqual([closed.outcome, closed.status], ["retry", 403], "the records are not at fault");
  const garbled = await sent("elasticsearch", config, {}, { text: "<html>" });
  assert.equal(garbled.outcome.outcome, "retry");
});

Deno.test("OTLP carries numbers as they are, and tells how many it left out", async () => {
  const { body, outcome } = await sent("otlp", { url }, {}, {
    text: '{"partialSuccess":{"rejectedLogRecords":"1","errorMessage":"no"}}',
  });
  assert.deepEqual(outcome, { outcome: "delivered", status: 200, rejected: 1 });
  const { outcome: boastful } = await sent("otlp", { url }, {}, {
    text: '{"partialSuccess":{"rejectedLogRecords":"99999999999"}}',
  });
  assert.deepEqual(boastful, { outcome: "delivered", status: 200, rejected: 2 }, "of what it has");
  const { resourceLogs } = JSON.parse(body);
  assert.equal(resourceLogs.length, 2);
  assert.deepEqual(resourceLogs[0].resource.attributes, [
    { key: "service.name", value: { stringValue: "shop" } },
  ]);
  const [record] = resourceLogs[0].scopeLogs[0].logRecords;
  assert.equal(record.timeUnixNano, "1795645910443170000");
  assert.deepEqual([record.severityNumber, record.severityText], [17, "error"]);
  assert.deepEqual(record.body, { stringValue: 'a ,"attrs": b' });
  assert.match(body, /\{"key":"n","value":\{"doubleValue":12345678901234567890\}\}/);
  assert.deepEqual(record.attributes[3], {
    key: "list",
    value: {
      arrayValue: {
        values: [{}, { boolValue: true }, {
          kvlistValue: { values: [{ key: "k", value: { stringValue: "v" } }] },
        }],
      },
    },
  });
});

Deno.test("Loki, Splunk and Datadog get times and credentials as they want them", async () => {
  const loki = await sent("loki", { url });
  const { streams } = JSON.parse(loki.body);
  assert.deepEqual(streams[0].stream, { source: "logloom", service_name: "shop", level: "error" });
  assert.deepEqual(streams[0].values, [["1795645910443170000", records[0]]]);
  const hec = await sent("splunk_hec", { url, index: "main" }, { token: "t" });
  assert.equal(hec.request.headers.Authorization, "Splunk t");
  assert.ok(hec.body.startsWith('{"time":1795645910.443170,"index":"main","event":{"id":"'));
  const datadog = await sent("datadog", { url, tags: "team:shop" }, { api_key: "k" });
  assert.equal(datadog.request.headers["DD-API-KEY"], "k");
  const [first] = JSON.parse(datadog.body);
  assert.deepEqual([first.status, first.message, first.ddtags], [
    "error",
    'a ,"attrs": b',
    "team:shop",
  ]);
});

Deno.test("what a receiver answers decides what becomes of the batch", async () => {
  const cases: [number, number, string][] = [
    [204, 0, "delivered"],
    [302, 0, "retry"],
    [400, 0, "refused"],
    [401, 0, "retry"],
    [404, 0, "retry"],
    [408, 0, "retry"],
    [409, 0, "refused"],
    [409, 1, "delivered"],
    [413, 0, "refused"],
    [422, 0, "refused"],
    [429, 0, "retry"],
    [503, 0, "retry"],
  ];
  for (const [status, attempt, wanted] of cases) {
    const { outcome } = await sent("webhook", { url }, {}, { status }, attempt);
    assert.equal(outcome.outcome, wanted, `${status}`);
  }
  const { outcome } = await sent("webhook", { url }, {}, {
    status: 429,
    headers: new Map([["retry-after", "30"]]),
  });
  assert.deepEqual(outcome, { outcome: "retry", status: 429, error: "HTTP 429", retryAfter: 30 });
  // A store's 409 says that it was busy, not that it has the object.
  for (const [status, attempt] of [[400, 0], [403, 0], [409, 1], [301, 0]]) {
    const { outcome } = await sent("s3", bucket, { secret_access_key: "s" }, { status }, attempt);
    assert.equal(outcome.outcome, "retry", `${status} of a store`);
  }
  const s3 = await sent("s3", bucket, { secret_access_key: "s" });
  assert.deepEqual(s3.outcome, { outcome: "delivered", status: 200 });
  assert.equal(
    s3.request.url,
    "https://s3.example.com/b/tenant%3Dacme/date%3D2026-11-25/hour%3D22/b-1.ndjson.gz",
  );
});
