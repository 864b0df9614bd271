import assert from "node:assert/strict";
import { PbfReader } from "pbf";
import { receive } from "../testing_protocols.ts";
import {
  type Span,
  type TraceRequest,
  tracesAsJson,
  tracesAsProtobuf,
} from "./testing_otlp_requests.ts";

const json = { "Content-Type": "application/json" };
const protobuf = { "Content-Type": "application/x-protobuf" };
const start = 1795264496123456000n;
const traceId = "5b8efff798038103d269b633813fc60c";
const span: Span = {
  traceId,
  spanId: "eee19b7ec3c1b174",
  name: "GET /pay/:id",
  start,
  end: start + 12_345_678n,
};

async function inBothForms(request: TraceRequest) {
  const asText = await receive("/v1/traces", { headers: json, body: tracesAsJson(request) });
  const asBytes = await receive("/otlp/v1/traces", {
    headers: protobuf,
    body: tracesAsProtobuf(request),
  });
  assert.deepEqual([asText.status, asText.text], [200, "{}"]);
  assert.deepEqual([asBytes.status, asBytes.bytes.length], [200, 0]);
  assert.deepEqual(asBytes.events, asText.events);
  return asText.events;
}

Deno.test("a span becomes a record, and its events log records of its trace", async () => {
  const events = await inBothForms({
    resource: { "service.name": "shop", "host.name": "web-1", "service.version": "1.2" },
    scope: "@opentelemetry/instrumentation-http",
    spans: [{
      ...span,
      parentId: "0123456789abcdef",
      kind: 2,
      attributes: {
        "http.route": "/pay/:id",
        "user.id": "u1",
        "http.response.status_code": 500n,
        request_id: "r1",
        status: "theirs",
        kind: "theirs too",
        duration_ms: "and theirs",
        level: "debug",
      },
      status: { code: 2, message: "card declined" },
      events: [
        { nanos: start + 1000n, name: "cache miss", attributes: { parent_id: "theirs" } },
        {
          nanos: start + 2000n,
          name: "exception",
          attributes: {
            "exception.type": "CardError",
            "exception.message": "declined",
            "exception.stacktrace": "CardError: declined\n  at pay",
          },
        },
      ],
      links: [{ traceId: "a".repeat(32), spanId: "b".repeat(16), attributes: { why: "retry" } }],
    }],
  });
  const origin = {
    resource: { "service.version": "1.2" },
    scope: "@opentelemetry/instrumentation-http",
  };
  const fields = { service: "shop", req_id: traceId, host: "web-1" };
  assert.deepEqual(events, [
    {
      ts: "2026-11-21T12:34:56.123456Z",
      level: "error",
      msg: "GET /pay/:id",
      ...fields,
      user_id: "u1",
      route: "/pay/:id",
      attrs: {
        kind: "span",
        span_id: "eee19b7ec3c1b174",
        parent_id: "0123456789abcdef",
        span_kind: "server",
        duration_ms: 12.345,
        status: "error",
        status_message: "card declined",
        links: [{
          trace_id: "a".repeat(32),
          span_id: "b".repeat(16),
          attributes: { why: "retry" },
        }],
        "attributes.status": "theirs",
        "attributes.kind": "theirs too",
        "attributes.duration_ms": "and theirs",
        "http.response.status_code": 500,
        request_id: "r1",
        level: "debug",
        ...origin,
      },
    },
    {
      ts: "2026-11-21T12:34:56.123457Z",
      level: "info",
      msg: "cache miss",
      ...fields,
      attrs: {
        kind: "span_event",
        parent_id: "eee19b7ec3c1b174",
        "attributes.parent_id": "theirs",
        ...origin,
      },
    },
    {
      ts: "2026-11-21T12:34:56.123458Z",
      level: "error",
      msg: "CardError: declined",
      ...fields,
      attrs: {
        kind: "span_event",
        parent_id: "eee19b7ec3c1b174",
        "exception.type": "CardError",
        "exception.message": "declined",
        "exception.stacktrace": "CardError: declined\n  at pay",
        ...origin,
      },
    },
  ]);
});

Deno.test("a duration is exact to the microsecond, and missing if the clock was set back", async () => {
  const durations: [bigint, unknown][] = [
    [0n, 0],
    [999n, 0],
    [1000n, 0.001],
    [86_400_000_123_456n, 86_400_000.123],
    [-1n, undefined],
  ];
  const events = await inBothForms({
    spans: durations.map(([nanos]) => ({ ...span, end: start + nanos })),
  });
  assert.deepEqual(
    events.map(({ attrs }) => (attrs as Record<string, unknown>).duration_ms),
    durations.map(([, duration]) => duration),
  );
});

Deno.test("ids arrive as hexadecimal, base64 or bytes, and enums as numbers or names", async () => {
  const spans = [
    { traceId, spanId: "EEE19B7EC3C1B174" },
    { traceId: "W47/95gDgQPSabYzgT/GDA==", spanId: "7uGbfsPBsXQ=" },
    { traceId: [...Uint8Array.from(atob("W47/95gDgQPSabYzgT/GDA=="), (c) => c.charCodeAt(0))] },
    { kind: "SPAN_KIND_CLIENT", status: { code: "STATUS_CODE_OK" } },
    { kind: 9, status: { code: "STATUS_CODE_UNSET" }, parentSpanId: "0000000000000000" },
  ];
  const { status, events } = await receive("/v1/traces", {
    headers: json,
    body: JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }),
  });
  assert.equal(status, 200);
  const id = "eee19b7ec3c1b174";
  assert.deepEqual(events, [
    { level: "info", req_id: traceId, attrs: { kind: "span", span_id: id } },
    { level: "info", req_id: traceId, attrs: { kind: "span", span_id: id } },
    { level: "info", req_id: traceId, attrs: { kind: "span" } },
    { level: "info", attrs: { kind: "span", span_kind: "client", status: "ok" } },
    { level: "info", attrs: { kind: "span", span_kind: "9" } },
  ]);
});

Deno.test("a partial success counts rejected spans, and warns of rejected events of stored spans", async () => {
  const event = { nanos: start, name: "late" };
  const request = {
    spans: [{ ...span, events: [event] }, span, { ...span, events: [event, event] }],
  };
  const error = (index: number) => ({ index, code: "ts_too_old", message: "too old" });
  // The records of the first span are 0 and 1, that of the second 2, those of the third 3 to 5.
  const database = () =>
    Response.json({ success: true, ingested: 2, rejected: 4, errors: [0, 1, 4, 5].map(error) });
  const asText = await receive("/v1/traces", {
    headers: json,
    body: tracesAsJson(request),
    database,
  });
  const errorMessage = "span 0: too old; span 2: too old";
  assert.deepEqual(JSON.parse(asText.text), {
    partialSuccess: { rejectedSpans: "1", errorMessage },
  });
  assert.equal(asText.calls[0].p_all_errors, true);
  assert.equal(asText.calls[0].p_spans, 6);
  const asBytes = await receive("/v1/traces", {
    headers: protobuf,
    body: tracesAsProtobuf(request),
    database,
  });
  const said: unknown[] = [];
  new PbfReader(asBytes.bytes).readFields((_, __, pbf) => {
    pbf.readMessage((field, _, inner) => {
      said.push(field === 1 ? inner.readVarint() : inner.readString());
    }, undefined);
  }, undefined);
  assert.deepEqual(said, [1, errorMessage]);
});

Deno.test("a request of another kind is refused with its fault", async () => {
  const refused: [unknown, string][] = [
    [
      { resourceLogs: [] },
      "resourceSpans is missing, where resourceLogs is: only spans are accepted here",
    ],
    [
      { resourceSpans: [{ scopeSpans: [{ spans: [{ parent_span_id: "" }] }] }] },
      "OTLP's JSON has parentSpanId, not parent_span_id",
    ],
    [{ resourceSpans: [{ scopeSpans: [{ spans: [{ events: {} }] }] }] }, "events must be an array"],
  ];
  for (const [body, message] of refused) {
    const { status, text, events } = await receive("/v1/traces", {
      headers: json,
      body: JSON.stringify(body),
    });
    assert.deepEqual([status, JSON.parse(text), events], [400, { message }, []]);
  }
});
