import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { Buffer } from "node:buffer";
import { PbfReader, PbfWriter } from "pbf";
import { receive, type Receiving } from "../testing_protocols.ts";
import { asJson, asProtobuf, type OtlpRequest } from "./testing_otlp_requests.ts";

const json = { "Content-Type": "application/json" };
const protobuf = { "Content-Type": "application/x-protobuf" };
const nanos = 1795264496123456000n;
const time = "2026-11-21T12:34:56.123456Z";
const traceId = "5b8efff798038103d269b633813fc60c";

/** Sends a text as JSON, and bytes as protobuf. */
const send = (body: string | Uint8Array<ArrayBuffer>, more: Receiving = {}) =>
  receive("/v1/logs", { headers: typeof body === "string" ? json : protobuf, body, ...more });

async function inBothForms(request: OtlpRequest) {
  const asText = await send(asJson(request));
  const asBytes = await send(asProtobuf(request));
  assert.equal(asText.status, 200, asText.text);
  assert.equal(asBytes.status, 200, asBytes.text);
  assert.deepEqual(asBytes.events, asText.events);
  return asText.events;
}

Deno.test("a record arrives with its fields, in JSON and in protobuf", async () => {
  const events = await inBothForms({
    resource: {
      "service.name": "shop",
      "deployment.environment.name": "prod",
      "host.name": "web-1",
      "service.version": "1.2",
      "process.pid": 7n,
    },
    scope: "checkout",
    records: [{
      nanos,
      number: 17,
      text: "ERROR",
      body: "card declined",
      attributes: {
        "http.route": "/pay",
        "user.id": "u1",
        n: 5n,
        big: 9007199254740993n,
        negative: -3n,
        share: 0.5,
        ok: true,
        list: ["a", 1n, { deep: "b" }],
        bytes: new Uint8Array([1, 2, 3]),
      },
      traceId,
      spanId: "eee19b7ec3c1b174",
      eventName: "checkout.done",
    }],
  });
  assert.deepEqual(events, [{
    ts: time,
    level: "error",
    msg: "card declined",
    service: "shop",
    env: "prod",
    req_id: traceId,
    user_id: "u1",
    route: "/pay",
    host: "web-1",
    attrs: {
      n: 5,
      // The test's own JSON.parse rounds this number.
      big: 9007199254740992,
      negative: -3,
      share: 0.5,
      ok: true,
      list: ["a", 1, { deep: "b" }],
      bytes: "AQID",
      trace_id: traceId,
      span_id: "eee19b7ec3c1b174",
      resource: { "service.version": "1.2" },
      scope: "checkout",
      event_name: "checkout.done",
    },
  }]);
});

Deno.test("a severity is read from its number, else from its text, else from the body", async () => {
  const events = await inBothForms({
    records: [
      ...[1, 8, 9, 12, 13, 16, 17, 24].map((number) => ({ nanos, number })),
      { nanos, text: "Warning" },
      { nanos, number: 21, text: "FATAL" },
      { nanos, number: 0, text: "loud" },
      { nanos, body: { level: "error", message: "in a map" } },
    ],
  });
  assert.deepEqual(events.map(({ level }) => level), [
    ...["debug", "debug", "info", "info", "warn", "warn", "error", "error"],
    ...["warn", "error", undefined, "error"],
  ]);
  assert.deepEqual(events.slice(8, 11).map(({ attrs }) => attrs), [
    { original_level: "Warning" },
    { original_level: "FATAL" },
    { original_level: "loud" },
  ]);
});

Deno.test("fields are found by name in a body that is a map", async () => {
  const [event] = await inBothForms({
    records: [{
      nanos,
      body: { log: "a line", stream: "stdout", kubernetes: { pod_name: "p1" }, host: "n1" },
      attributes: { stream: "x" },
    }],
  });
  assert.deepEqual(event, {
    ts: time,
    msg: "a line",
    host: "n1",
    attrs: { stream: "stdout", kubernetes: { pod_name: "p1" }, "attributes.stream": "x" },
  });
});

Deno.test("the time is the event's, else the observed time, else the time of receipt", async () => {
  const events = await inBothForms({
    records: [{ nanos, observed: 1n }, { observed: nanos }, { body: "a" }, { nanos: nanos + 7n }],
  });
  assert.deepEqual(events.map(({ ts }) => ts), [time, time, undefined, time]);
  assert.deepEqual(events[3].attrs, { original_ts: String(nanos + 7n) });
});

Deno.test("without a body the event's name or its exception is the message", async () => {
  const events = await inBothForms({
    records: [
      { nanos, eventName: "started" },
      { nanos, attributes: { "exception.message": "boom", "exception.stacktrace": "at a" } },
    ],
  });
  assert.deepEqual(events.map(({ msg }) => msg), ["started", "boom"]);
});

Deno.test("answers have the request's format, for a full and for a partial success", async () => {
  const request: OtlpRequest = { records: [{ nanos, body: "a" }] };
  const all = await send(asJson(request));
  assert.deepEqual([all.headers.get("content-type"), all.text], ["application/json", "{}"]);
  const bytes = await send(asProtobuf(request));
  assert.deepEqual(
    [bytes.headers.get("content-type"), bytes.bytes.length],
    ["application/x-protobuf", 0],
  );
  const database = () =>
    Response.json({
      success: true,
      ingested: 0,
      rejected: 1,
      errors: [{ index: 0, code: "ts_out_of_range", message: "too old" }],
    });
  const part = await send(asJson(request), { database });
  assert.deepEqual(JSON.parse(part.text), {
    partialSuccess: { rejectedLogRecords: "1", errorMessage: "record 0: too old" },
  });
  const partBytes = await send(asProtobuf(request), { database });
  const partial: unknown[] = [];
  const pbf = new PbfReader(partBytes.bytes);
  pbf.readFields((field, _, inner) => {
    assert.equal(field, 1);
    inner.readMessage((part) => {
      partial.push(part === 1 ? inner.readVarint() : inner.readString());
    }, null);
  }, null);
  assert.deepEqual(partial, [1, "record 0: too old"]);
});

Deno.test("an empty request and the requests of a drain's set-up are accepted", async () => {
  for (const body of ["{}", '{"resourceLogs":[]}']) {
    assert.equal((await send(body)).text, "{}");
  }
  const empty = await receive("/v1/logs", {
    headers: { ...protobuf, "Content-Encoding": "gzip" },
    body: new Uint8Array(gzipSync(new Uint8Array())),
  });
  assert.deepEqual(
    [empty.status, empty.headers.get("content-type")],
    [200, "application/x-protobuf"],
  );
});

Deno.test("failures are a Status in the request's own form", async () => {
  const refused = await send("{", { credentials: {} });
  assert.deepEqual([refused.status, refused.text], [
    401,
    '{"message":"Missing authorization header: No API key or token: send the key as X-API-Key, or as ' +
    'Authorization: Bearer"}',
  ]);
  const broken = await receive("/v1/logs", { headers: protobuf, body: "\x0a\xff" });
  assert.deepEqual([broken.status, broken.headers.get("content-type")], [
    400,
    "application/x-protobuf",
  ]);
  assert.equal(
    new PbfReader(broken.bytes).readFields((field, _, pbf) => {
      assert.equal(field, 2);
      assert.match(pbf.readString(), /not an OTLP request/);
    }, undefined),
    undefined,
  );
  const metrics = await receive("/v1/metrics", { headers: json, body: "{}" });
  assert.deepEqual([metrics.status, metrics.text], [
    404,
    '{"message":"Only logs and traces are accepted here"}',
  ]);
  const many = { records: Array.from({ length: 10_001 }, () => ({ nanos })) };
  const over = await send(asProtobuf(many));
  assert.equal(over.status, 413);
});

Deno.test("cutting one record leaves the resource of all other records whole", async () => {
  const resource: Record<string, string> = { build: "r".repeat(20_000) };
  const many = Array.from({ length: 260 }, (_, n) => [`k${n}`, "x".repeat(5000)]);
  const events = await inBothForms({
    resource,
    records: [{ nanos }, { nanos, attributes: Object.fromEntries(many) }, { nanos }],
  });
  const [first, cut, last] = events.map(({ attrs }) => attrs as Record<string, typeof resource>);
  for (const { resource } of [first, last]) assert.equal(resource.build.length, 20_000);
  assert.equal(Number(cut.logloom_cut["attrs.resource.build"]), 20_000);
});

Deno.test("a large request is committed in slices, each once however often it is sent", async () => {
  const records = Array.from({ length: 10_000 }, (_, n) => ({
    nanos,
    number: 9,
    body: `event ${n} ${"x".repeat(200)}`,
  }));
  const body = asProtobuf({ records });
  const { status, calls, events } = await send(body);
  assert.equal(status, 200);
  assert.ok(calls.length >= 4, String(calls.length));
  assert.equal(calls.reduce((sum, { p_bytes: bytes }) => sum + Number(bytes), 0), body.length);
  assert.deepEqual(events.map(({ msg }) => msg), records.map((record) => record.body));
  const again = await send(body);
  assert.deepEqual(
    again.calls.map(({ p_idempotency_key: key }) => key),
    calls.map(({ p_idempotency_key: key }) => key),
  );
});

const spanId = "eee19b7ec3c1b174";
const base64 = (hex: string) => Buffer.from(hex, "hex").toString("base64");
const ascii = (text: string) => new TextEncoder().encode(text);

Deno.test("ids are stored as hexadecimal, in whatever form a sender writes them", async () => {
  const traces: readonly (readonly [string, string | undefined])[] = [
    [traceId, traceId],
    [traceId.toUpperCase(), traceId],
    [base64(traceId), traceId],
    [Buffer.from(traceId).toString("base64"), traceId],
    ["0".repeat(32), undefined],
    [base64("0".repeat(32)), undefined],
    ["", undefined],
    // Any other text stays as sent.
    ["5B8EFFF7-9803-8103-D269-B633813FC60C", "5B8EFFF7-9803-8103-D269-B633813FC60C"],
    ["Order-7", "Order-7"],
    ["ABCDEF0123456789", "ABCDEF0123456789"],
    ["W47/95gDgQPSabYzgT/GDB", "W47/95gDgQPSabYzgT/GDB"],
    ["W47/95gDgQPSabYzgT/GDA", traceId],
    ["W47_95gDgQPSabYzgT_GDA", traceId],
    ["A".repeat(22), undefined],
  ];
  for (
    const [sent, stored] of [[[...Buffer.from(traceId, "hex")], traceId], [{ low: 1 }, '{"low":1}']]
  ) {
    const logRecords = [{ traceId: sent }];
    const { events } = await send(
      JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] }),
    );
    assert.deepEqual(events, [{ req_id: stored, attrs: { trace_id: stored } }]);
  }
  for (const [sent, stored] of traces) {
    const expected = stored === undefined ? undefined : { trace_id: stored };
    const request = { records: [{ nanos, traceId: sent }] };
    const text = await send(asJson(request));
    assert.deepEqual(text.events, [
      { ts: time, ...stored && { req_id: stored, attrs: expected } },
    ], sent);
    const bytes = await send(asProtobuf({ records: [{ nanos, traceId: ascii(sent) }] }));
    // A trace id has 16 bytes, so a text of 16 characters is read as an id.
    if (sent.length !== 16) assert.deepEqual(bytes.events, text.events, sent);
  }
  const bare = base64(spanId).replace("=", "");
  for (const sent of [spanId, spanId.toUpperCase(), base64(spanId), bare]) {
    for (const id of [sent, ascii(sent)]) {
      const request = { records: [{ nanos, spanId: id }] };
      const { events } = await send(typeof id === "string" ? asJson(request) : asProtobuf(request));
      assert.deepEqual(events, [{ ts: time, attrs: { span_id: spanId } }], sent);
    }
  }
});

Deno.test("the other members of a scope and a record are kept", async () => {
  const events = await inBothForms({
    scope: "checkout",
    scopeAttributes: { team: "pay", n: 1n },
    schemaUrl: "https://opentelemetry.io/schemas/1.30.0",
    records: [
      { nanos, observed: nanos + 1_500_000_000n, flags: 1 },
      { nanos, observed: nanos + 7n, flags: 0x101 },
      { nanos, observed: nanos },
    ],
  });
  const shared = {
    scope: "checkout",
    scope_attributes: { team: "pay", n: 1 },
    schema_url: "https://opentelemetry.io/schemas/1.30.0",
  };
  assert.deepEqual(events.map(({ attrs }) => attrs), [
    { ...shared, flags: 1, observed_ts: "2026-11-21T12:34:57.623456Z" },
    { ...shared, flags: 0x101, observed_ts: "2026-11-21T12:34:56.123456007Z" },
    shared,
  ]);
});

Deno.test("JSON of another shape is refused with its fault, and not read as an empty request", async () => {
  const record = { body: { stringValue: "a" } };
  const logs = (scopeLogs: unknown) => ({ resourceLogs: [{ scopeLogs }] });
  const records = (...logRecords: unknown[]) => logs([{ logRecords }]);
  const refused: readonly (readonly [unknown, string])[] = [
    [{ resource_logs: [] }, "OTLP's JSON has resourceLogs, not resource_logs"],
    [
      { resourceSpans: [] },
      "resourceLogs is missing, where resourceSpans is: only logs are accepted here",
    ],
    [{ logs: [record] }, "resourceLogs is missing, where logs is: only logs are accepted here"],
    [{ resourceLogs: [{ scope_logs: [] }] }, "OTLP's JSON has scopeLogs, not scope_logs"],
    [
      { resourceLogs: [{ resource: {}, instrumentationLibraryLogs: [] }] },
      "scopeLogs is missing, where instrumentationLibraryLogs is: only logs are accepted here",
    ],
    [logs([{ scope: {}, log_records: [record] }]), "OTLP's JSON has logRecords, not log_records"],
    [
      records({ ...record, time_unix_nano: "1" }),
      "OTLP's JSON has timeUnixNano, not time_unix_nano",
    ],
    [records({ ...record, trace_id: traceId }), "OTLP's JSON has traceId, not trace_id"],
    [records({ body: { string_value: "a" } }), "OTLP's JSON has stringValue, not string_value"],
    [{ resourceLogs: [{ resource: [], scopeLogs: [] }] }, "resource must be an object"],
    [{ resourceLogs: {} }, "resourceLogs must be an array"],
  ];
  for (const [body, message] of refused) {
    const { status, text, events } = await send(JSON.stringify(body));
    assert.deepEqual([status, JSON.parse(text)], [400, { message }]);
    assert.deepEqual(events, []);
  }
});

Deno.test("an event of another shape keeps its values", async () => {
  const kept: readonly (readonly [object, object])[] = [
    [{ body: { stringValue: "a" }, newMember: 1 }, { msg: "a" }],
    [{ body: { newValue: 1 } }, { attrs: { newValue: 1 } }],
    [{ attributes: { a: 1, b: { stringValue: "c" } } }, { attrs: { a: 1, b: "c" } }],
    [{ attributes: ["a", { key: "n", value: { intValue: "5" } }] }, {
      attrs: { n: 5, attributes: ["a"] },
    }],
    [{ attributes: [{ key: "n", value: { doubleValue: "1.5" } }] }, { attrs: { n: 1.5 } }],
    [{ attributes: true }, { attrs: { attributes: true } }],
    [{ attributes: [{ key: "l", value: { arrayValue: ["a"] } }] }, { attrs: { l: ["a"] } }],
    [{ attributes: [{ key: "l", value: { arrayValue: {} } }] }, { attrs: { l: [] } }],
    [{ attributes: [{ key: "m", value: { kvlistValue: {} } }] }, { attrs: { m: {} } }],
  ];
  const logRecords = kept.map(([record]) => record);
  const { status, events } = await send(
    JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }], newMember: 1 }),
  );
  assert.equal(status, 200);
  assert.deepEqual(events, kept.map(([, event]) => event));
});

Deno.test("spans and metrics in protobuf are refused at the path for logs", async () => {
  for (const id of [traceId, Buffer.from("requests").toString("hex")]) {
    const writer = new PbfWriter();
    const within = (field: number, write: () => void) =>
      writer.writeMessage(field, write, undefined);
    within(
      1,
      () => within(2, () => within(2, () => writer.writeBytesField(1, Buffer.from(id, "hex")))),
    );
    const { status, text } = await send(new Uint8Array(writer.finish()));
    assert.equal(status, 400);
    assert.match(text, /spans or metrics: only logs are accepted here/);
  }
});

Deno.test("a severity that is a word or unknown is kept", async () => {
  const logRecords = ["ERROR", "SEVERITY_NUMBER_WARN2", "loud", 99]
    .map((severityNumber) => ({ severityNumber }));
  const { events } = await send(
    JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] }),
  );
  assert.deepEqual(events, [
    { level: "error", attrs: { original_level: "ERROR" } },
    { level: "warn" },
    { attrs: { original_level: "loud" } },
    { attrs: { original_level: "99" } },
  ]);
});
