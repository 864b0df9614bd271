import assert from "node:assert/strict";
import type { OutgoingAnswer, OutgoingRequest } from "../_shared/outgoing_request.ts";
import { PbfReader } from "pbf";
import { readBatch } from "./batch.ts";
import { sendBatch } from "./stream_kinds.ts";
import type { Outcome } from "./delivery_outcome.ts";

const ids = ["01a214d6-2dab-7f51-afd4-000000000001", "01a214d6-2dab-7f51-afd4-000000000002"];
const records = [
  `{"id":"${ids[0]}","ts":"2026-11-25T22:31:50.44317+00:00","received_at":` +
  '"2026-11-25T22:31:51+00:00","level":"error","msg":"a ,\\"attrs\\": b","service":"shop",' +
  '"attrs":{"n": 12345678901234567890, "f": 0.5, "list": [null, true, {"k": "v"}]}}',
  `{"id":"${ids[1]}","ts":"2026-11-25T22:31:52+00:00"}`,
];

/** An answer of the database with a batch of these records. */
function answerWith(
  kind: string,
  config: Record<string, string>,
  attempt = 0,
  of: readonly string[] = records,
): string {
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
    records: of.length,
  };
  return `{"batch":${JSON.stringify(batch)},"records":[\n${of.join(",\n")}\n]}`;
}

/** The values at a path of field numbers: texts, halves of a fixed64, or other bytes. */
function fieldsOf(bytes: Uint8Array, [field, ...path]: number[]): string[] {
  const pbf = new PbfReader(bytes);
  const found: string[] = [];
  for (let at = pbf.nextField(pbf.length); at !== 0; at = pbf.nextField(pbf.length)) {
    if (at !== field) continue;
    if (pbf.type === 1) found.push(`${pbf.readFixed32()}+${pbf.readFixed32()}`);
    else if (path.length > 0) found.push(...fieldsOf(pbf.readBytes(), path));
    else found.push(new TextDecoder().decode(pbf.readBytes()));
  }
  return found;
}

type Answer = Partial<OutgoingAnswer> & { text?: string };

/** Sends a batch to a kind of receiver. Returns its requests, and the outcome by the last answer. */
async function sent(
  kind: string,
  config: Record<string, string>,
  secrets: Record<string, string> = {},
  answers: Answer | readonly Answer[] = {},
  attempt = 0,
  of?: readonly string[],
): Promise<
  { requests: OutgoingRequest[]; request: OutgoingRequest; body: string; outcome: Outcome }
> {
  const batch = readBatch(answerWith(kind, config, attempt, of));
  assert.ok(batch);
  const requests: OutgoingRequest[] = [];
  const outcome = await sendBatch(batch, secrets, (made) => {
    const { status = 200, headers = new Map(), body, text = "" } =
      [answers].flat()[requests.length];
    requests.push(made);
    return Promise.resolve({ status, headers, body: body ?? new TextEncoder().encode(text) });
  }, () => new Date("2026-11-25T22:32:01Z"));
  const [request] = requests;
  return { requests, request, body: new TextDecoder().decode(request.body), outcome };
}

const url = "https://example.com/in?x=1";
const bucket = { endpoint: "https://s3.example.com", region: "r", bucket: "b", access_key_id: "a" };

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

Deno.test("a secret header cannot replace a header of the batch", async () => {
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

Deno.test("Elasticsearch's answer gives an outcome for each record", async () => {
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
    answer: '{"errors":true,"items":[{"create":{"status":409}},{"create":{"status":400}}]}',
  });
  const passing = await outcomeOf(201, 429);
  assert.deepEqual([passing.outcome, passing.status], ["retry", 429]);
  const closed = await outcomeOf(403, 403);
  assert.deepEqual([closed.outcome, closed.status], ["retry", 403], "the records are not at fault");
  const said = async (text: string) =>
    (await sent("elasticsearch", config, {}, { text })).outcome.outcome;
  for (
    const text of [
      "<html>",
      "",
      "{}",
      "null",
      "[]",
      '{"errors":true}',
      '{"errors":null}',
      '{"errors":"false"}',
      '{"took":3}',
      '{"errors":true,"items":[]}',
      '{"errors":true,"items":[{"create":{"status":201}}]}',
      '{"errors":true,"items":[{"create":{}},{"create":{"status":201}}]}',
      '{"errors":true,"items":[null,null]}',
      '{"items":{"length":2}}',
      '{"data":{"errors":false}}',
      '{"message":"\\"errors\\":false"}',
    ]
  ) assert.equal(await said(text), "retry", text);
  for (
    const text of [
      '{"errors":false}',
      '{"took":3,"ingest_took":1, "errors" : false, "items":[{"crea',
      '{"errors":true,"items":[{"create":{"status":201}},{"create":{"status":400}}]}',
      '{"items":[{"create":{"status":201}},{"index":{"status":200}}]}',
    ]
  ) assert.equal(await said(text), "delivered", text);
});

Deno.test("admins see the receiver's answer, but no secret that it repeats", async () => {
  const secrets = { "header.authorization": "Bearer s3cret-token" };
  const text = `no\n\u0000route for Bearer s3cret-token, s3cret-token ${"x".repeat(600)}`;
  const { outcome } = await sent("webhook", { url }, secrets, { status: 404, text });
  assert.equal(outcome.answer?.length, 500);
  assert.ok(outcome.answer?.startsWith("no route for ***, *** xxx"), outcome.answer);
  const { outcome: good } = await sent("webhook", { url }, secrets, { text: "ok" });
  assert.deepEqual(good, { outcome: "delivered", status: 200 });
});

Deno.test("Retry-After may be a number of seconds or a date", async () => {
  const cases: [string, number | undefined][] = [
    ["30", 30],
    ["86400", 86_400],
    ["0000000000120", 120],
    ["99999999999999999999", 2_147_483_647],
    ["1.5", 2],
    // Now is 22:32:01.
    ["Wed, 25 Nov 2026 23:32:01 GMT", 3600],
    ["Wednesday, 25-Nov-26 22:33:01 GMT", 60],
    ["Wed Nov 25 22:33:01 2026", 60],
    ["Wed, 25 Nov 2026 20:00:00 GMT", 0],
    ["soon", undefined],
    ["-5", undefined],
  ];
  for (const [value, wanted] of cases) {
    const headers = new Map([["retry-after", value]]);
    const { outcome } = await sent("webhook", { url }, {}, { status: 503, headers });
    assert.equal(outcome.outcome === "retry" && outcome.retryAfter, wanted, value);
  }
});

Deno.test("Splunk's code decides, whatever the status is", async () => {
  const code = async (text: string) => (await sent("splunk_hec", { url }, {}, { text })).outcome;
  assert.equal((await code('{"text":"Success","code":0}')).outcome, "delivered");
  for (const text of ['{"text":"Server is busy","code":9}', '{"code":-1}', "OK", "{}", ""]) {
    assert.equal((await code(text)).outcome, "retry", text);
  }
});

Deno.test("a web page is not a log receiver's answer", async () => {
  const page = { headers: new Map([["content-type", "text/html; charset=utf-8"]]), text: "<html>" };
  for (const kind of ["otlp", "loki", "elasticsearch", "splunk_hec", "datadog"]) {
    const { outcome } = await sent(kind, { url, index: "main" }, {}, page);
    assert.deepEqual(outcome, {
      outcome: "retry",
      status: 200,
      error: "The receiver answered with a web page: is the address right?",
      retryAfter: undefined,
      answer: "<html>",
    }, kind);
  }
  const { outcome } = await sent("webhook", { url }, {}, page);
  assert.equal(outcome.outcome, "delivered", "a webhook may answer anything");
  const config = { endpoint: url, region: "r", bucket: "b", access_key_id: "a" };
  const stored = await sent("s3", config, { secret_access_key: "s" }, page);
  assert.equal(stored.outcome.outcome, "delivered", "a store may name any type");
});

Deno.test("OTLP keeps numbers exact, and counts rejected records", async () => {
  const told = '{"partialSuccess":{"rejectedLogRecords":"1","errorMessage":"no"}}';
  const { body, outcome } = await sent("otlp", { url }, {}, { text: told });
  assert.deepEqual(outcome, { outcome: "delivered", status: 200, rejected: 1, answer: told });
  const { outcome: boastful } = await sent("otlp", { url }, {}, {
    text: '{"partialSuccess":{"rejectedLogRecords":"99999999999"}}',
  });
  assert.equal("rejected" in boastful && boastful.rejected, 2, "not more than were sent");
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

Deno.test("OTLP is sent in protobuf if the stream or the receiver wants it", async () => {
  const typesOf = async (config: Record<string, string>, ...statuses: number[]) => {
    const answers = statuses.map((status) => ({ status }));
    const { requests } = await sent("otlp", { url, ...config }, {}, answers);
    return requests.map(({ headers }) => headers["Content-Type"]);
  };
  const json = "application/json";
  const protobuf = "application/x-protobuf";
  assert.deepEqual(await typesOf({}, 200), [json]);
  assert.deepEqual(await typesOf({ encoding: "json" }, 415), [json]);
  assert.deepEqual(await typesOf({}, 415, 200), [json, protobuf]);
  assert.deepEqual(await typesOf({ encoding: "protobuf" }, 200), [protobuf]);
  const { request: { body = new Uint8Array() }, outcome } = await sent(
    "otlp",
    { url, encoding: "protobuf" },
    {},
    { headers: new Map([["content-type", protobuf]]), text: "\x0a\x06\x08\x01\x12\x02no" },
  );
  assert.equal(outcome.outcome === "delivered" && outcome.rejected, 1);
  assert.deepEqual(fieldsOf(body, [1, 1, 1, 2, 1]), ["shop"]);
  assert.equal(fieldsOf(body, [1, 2, 2]).length, 2);
  // The time has nanoseconds: two halves of a fixed64.
  const time = 1795645910443170000n;
  assert.equal(fieldsOf(body, [1, 2, 2, 1])[0], `${time & 0xffffffffn}+${time >> 32n}`);
  assert.deepEqual(fieldsOf(body, [1, 2, 2, 5, 1]), ['a ,"attrs": b']);
  assert.deepEqual(fieldsOf(body, [1, 2, 2, 6, 1]), ["logloom.id", "n", "f", "list", "logloom.id"]);
});

Deno.test("ids of traces and spans are in their own members", async () => {
  const [trace, span] = ["5B8EFFF798038103D269B633813FC60C", "eee19b7ec3c1b174"];
  const recordOf = async (attrs: Record<string, unknown>) => {
    const record = `${records[1].slice(0, -1)},"attrs":${JSON.stringify(attrs)}}`;
    const { body } = await sent("otlp", { url }, {}, {}, 0, [record]);
    const [{ scopeLogs: [{ logRecords: [{ traceId, spanId, attributes }] }] }] =
      JSON.parse(body).resourceLogs;
    return [traceId, spanId, attributes.slice(1).map(({ key }: { key: string }) => key)];
  };
  const both = ["trace_id", "span_id"];
  const cases: [Record<string, unknown>, unknown[]][] = [
    [{ trace_id: trace, span_id: span, n: 1 }, [trace.toLowerCase(), span, ["n"]]],
    [{ trace_id: "t1", span_id: "0".repeat(16) }, [undefined, undefined, both]],
    [{ trace_id: 12, span_id: null }, [undefined, undefined, both]],
  ];
  for (const [attrs, expected] of cases) assert.deepEqual(await recordOf(attrs), expected);
});

Deno.test("Loki, Splunk and Datadog get times and credentials in their own forms", async () => {
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
  assert.equal(first.timestamp, 1795645910443);
  assert.deepEqual([first.status, first.message, first.ddtags], [
    "error",
    'a ,"attrs": b',
    "team:shop",
  ]);
});

Deno.test("the receiver's answer decides the outcome of the batch", async () => {
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
  // A store's 409 means that it was busy, not that it has the object.
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
