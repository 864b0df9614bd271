import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { receive } from "../testing_protocols.ts";
import { apiKey } from "../testing.ts";
import { pushed } from "./testing_loki_requests.ts";
import { asProtobuf } from "./testing_otlp_requests.ts";

// Requests of shippers that the tests do not run. They follow each shipper's documentation, which is linked, or were
// recorded from Fluent Bit 5.1.1, built from source, with the configuration in docs/guides/send.

const time = "2026-11-21T12:34:56.123456Z";
const nanos = 1795264496123456000n;
const seconds = 1795264496.123456;
const basic = { Authorization: `Basic ${btoa(`logloom:${apiKey}`)}` };
const json = { "Content-Type": "application/json" };
const ndjson = { "Content-Type": "application/x-ndjson" };

const lines = (...values: unknown[]) => values.map((value) => JSON.stringify(value)).join("\n");
const gzip = (text: string | Uint8Array) => new Uint8Array(gzipSync(text));

interface Fixture {
  readonly name: string;
  readonly source: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | Uint8Array<ArrayBuffer>;
  readonly status?: number;
  readonly events: Record<string, unknown>[];
}

/** The event of Vector's file source: https://vector.dev/docs/reference/configuration/sources/file/ */
const vectorEvent = {
  file: "/var/log/shop.log",
  host: "web-1",
  message: "card declined",
  source_type: "file",
  timestamp: time,
};
const ofVector = {
  ts: time,
  msg: "card declined",
  host: "web-1",
  attrs: { file: "/var/log/shop.log", source_type: "file" },
};

/** The event of Filebeat's filestream input. */
const filebeatEvent = {
  "@timestamp": "2026-11-21T12:34:56.123Z",
  agent: { ephemeral_id: "7f3f", id: "e2a8", name: "web-1", type: "filebeat", version: "8.15.0" },
  ecs: { version: "8.0.0" },
  host: { name: "web-1" },
  input: { type: "filestream" },
  log: { file: { path: "/var/log/shop.log" }, level: "error", offset: 4711 },
  message: "card declined",
  service: { name: "shop" },
};

const fixtures: Fixture[] = [
  {
    name: "Vector, http sink: an array of JSON objects, gzip",
    source: "https://vector.dev/docs/reference/configuration/sinks/http/",
    path: "",
    headers: { ...json, "Content-Encoding": "gzip", "X-API-Key": apiKey },
    body: gzip(JSON.stringify([vectorEvent, { ...vectorEvent, message: '{"level":"warn"}' }])),
    events: [ofVector, { ...ofVector, msg: '{"level":"warn"}' }],
  },
  {
    name: "Vector, http sink with newline_delimited framing",
    source: "https://vector.dev/docs/reference/configuration/sinks/http/#framing.method",
    path: "",
    headers: { ...ndjson, ...basic },
    body: lines(vectorEvent, vectorEvent) + "\n",
    events: [ofVector, ofVector],
  },
  {
    name: "Vector, loki sink: protobuf and Snappy, the event as JSON in its line",
    source: "https://vector.dev/docs/reference/configuration/sinks/loki/",
    path: "/loki/api/v1/push",
    headers: { "Content-Type": "application/x-protobuf", ...basic },
    body: pushed('{source="vector",service="shop"}', [[JSON.stringify({
      host: "web-1",
      level: "error",
      message: "card declined",
    })]]),
    status: 204,
    events: [{
      ts: time,
      level: "error",
      msg: "card declined",
      service: "shop",
      host: "web-1",
      attrs: { source: "vector" },
    }],
  },
  {
    name: "Vector, elasticsearch sink: bulk, by day",
    source: "https://vector.dev/docs/reference/configuration/sinks/elasticsearch/",
    path: "/es/_bulk",
    headers: { ...ndjson, ...basic },
    body: lines({ create: { _index: "vector-2026.11.21", _type: "_doc" } }, vectorEvent) + "\n",
    events: [{ ...ofVector, attrs: { ...ofVector.attrs, _index: "vector-2026.11.21" } }],
  },
  {
    name: "Alloy, loki.write: protobuf and Snappy, labels of its targets, structured metadata",
    source: "https://grafana.com/docs/alloy/latest/reference/components/loki/loki.write/",
    path: "/loki/api/v1/push",
    headers: {
      "Content-Type": "application/x-protobuf",
      "User-Agent": "Alloy/v1.5.0 (linux; docker)",
      "X-Scope-OrgID": "tenant1",
      ...basic,
    },
    body: pushed(
      '{filename="/var/log/shop.log",job="shop",detected_level="warn"}',
      [['level=warn msg="card declined" order=7', { trace_id: "5b8e" }]],
    ),
    status: 204,
    events: [{
      ts: time,
      level: "warn",
      msg: 'level=warn msg="card declined" order=7',
      service: "shop",
      req_id: "5b8e",
      attrs: { filename: "/var/log/shop.log", trace_id: "5b8e" },
    }],
  },
  {
    name: "OpenTelemetry collector, otlphttp of filelog: protobuf, gzip, no severity",
    source:
      "https://github.com/open-telemetry/opentelemetry-collector/tree/main/exporter/otlphttpexporter",
    path: "/v1/logs",
    headers: {
      "Content-Type": "application/x-protobuf",
      "Content-Encoding": "gzip",
      "User-Agent": "OpenTelemetry Collector/0.115.0 (linux/amd64)",
      Authorization: `Bearer ${apiKey}`,
    },
    body: gzip(asProtobuf({
      resource: { "host.name": "web-1", "os.type": "linux" },
      records: [{
        observed: nanos,
        body: "card declined",
        attributes: { "log.file.name": "shop.log" },
      }],
    })),
    events: [{
      ts: time,
      msg: "card declined",
      host: "web-1",
      attrs: { "log.file.name": "shop.log", resource: { "os.type": "linux" } },
    }],
  },
  {
    name: "Filebeat, output.elasticsearch: ECS, created in its data stream",
    source: "https://www.elastic.co/guide/en/beats/filebeat/current/exported-fields.html",
    path: "/es/_bulk",
    headers: { ...json, ...basic, "User-Agent": "Elastic-filebeat/8.15.0 (linux; amd64)" },
    body: lines({ create: { _index: "filebeat-8.15.0" } }, filebeatEvent) + "\n",
    events: [{
      ts: "2026-11-21T12:34:56.123Z",
      level: "error",
      msg: "card declined",
      service: "shop",
      host: "web-1",
      attrs: {
        _index: "filebeat-8.15.0",
        agent: filebeatEvent.agent,
        ecs: { version: "8.0.0" },
        input: { type: "filestream" },
        log: { file: { path: "/var/log/shop.log" }, offset: 4711 },
      },
    }],
  },
  {
    name: "Fluent Bit, http: format json, seconds as its date",
    source: "https://docs.fluentbit.io/manual/pipeline/outputs/http",
    path: "",
    headers: { ...json, "X-API-Key": apiKey },
    body: JSON.stringify([{ date: seconds, log: "card declined", stream: "stderr" }]),
    events: [{ ts: time, msg: "card declined", attrs: { stream: "stderr" } }],
  },
  {
    name: "Fluent Bit, http: format json_stream, objects one after another",
    source: "https://docs.fluentbit.io/manual/pipeline/outputs/http",
    path: "/lines",
    headers: { "Content-Type": "application/json", "X-API-Key": apiKey },
    body: JSON.stringify({ date: seconds, log: "one" }) +
      JSON.stringify({ date: seconds, log: "two" }),
    events: [{ ts: time, msg: "one" }, { ts: time, msg: "two" }],
  },
  {
    name: "Fluent Bit, http: format json_lines of Kubernetes' filter",
    source: "https://docs.fluentbit.io/manual/pipeline/filters/kubernetes",
    path: "",
    headers: { ...ndjson, "X-API-Key": apiKey },
    body: lines({
      date: seconds,
      log: "card declined",
      stream: "stderr",
      kubernetes: {
        pod_name: "shop-7d9f",
        namespace_name: "prod",
        container_name: "shop",
        labels: { app: "shop" },
      },
    }),
    events: [{
      ts: time,
      msg: "card declined",
      attrs: {
        stream: "stderr",
        kubernetes: {
          pod_name: "shop-7d9f",
          namespace_name: "prod",
          container_name: "shop",
          labels: { app: "shop" },
        },
      },
    }],
  },
  {
    name:
      "Fluent Bit, http, as docs/guides/send/json.md configures it (recorded): json_lines, gzip",
    source: "https://docs.fluentbit.io/manual/pipeline/outputs/http",
    path: "/lines",
    headers: {
      "Content-Type": "application/x-ndjson",
      "Content-Encoding": "gzip",
      "User-Agent": "Fluent-Bit",
      "X-API-Key": apiKey,
    },
    body: gzip('{"ts":"2026-11-21T12:34:56.123456Z","log":"card declined"}'),
    events: [{ ts: time, msg: "card declined" }],
  },
  {
    name: "Fluent Bit, es, as docs/guides/send/elasticsearch.md configures it (recorded)",
    source: "https://docs.fluentbit.io/manual/pipeline/outputs/elasticsearch",
    path: "/es/_bulk",
    headers: { ...ndjson, ...basic, "User-Agent": "Fluent-Bit" },
    body: lines(
      { create: { _index: "logs" } },
      { "@timestamp": "2026-11-21T12:34:56.123Z", log: "card declined" },
    ) + "\n",
    events: [{ ts: "2026-11-21T12:34:56.123Z", msg: "card declined" }],
  },
  {
    name: "Fluent Bit, loki, as docs/guides/send/loki.md configures it (recorded)",
    source: "https://docs.fluentbit.io/manual/pipeline/outputs/loki",
    path: "/loki/api/v1/push",
    headers: { ...json, ...basic, "User-Agent": "Fluent-Bit" },
    body: JSON.stringify({
      streams: [{ stream: { job: "shop" }, values: [[String(nanos), '{"log":"card declined"}']] }],
    }),
    status: 204,
    events: [{ ts: time, msg: "card declined", service: "shop" }],
  },
  {
    name: "Fluent Bit, es: created, with its own time key",
    source: "https://docs.fluentbit.io/manual/pipeline/outputs/elasticsearch",
    path: "/es/_bulk",
    headers: { ...ndjson, ...basic },
    body: lines(
      { create: { _index: "fluent-bit" } },
      { "@timestamp": "2026-11-21T12:34:56.123Z", log: "card declined", level: "error" },
    ) + "\n",
    events: [{
      ts: "2026-11-21T12:34:56.123Z",
      level: "error",
      msg: "card declined",
      attrs: { _index: "fluent-bit" },
    }],
  },
  {
    name: "Fluent Bit, loki: line_format json, its own label",
    source: "https://docs.fluentbit.io/manual/pipeline/outputs/loki",
    path: "/loki/api/v1/push",
    headers: { ...json, ...basic },
    body: JSON.stringify({
      streams: [{
        stream: { job: "fluent-bit" },
        values: [[String(nanos), '{"log":"card declined","level":"error"}']],
      }],
    }),
    status: 204,
    events: [{ ts: time, level: "error", msg: "card declined", service: "fluent-bit" }],
  },
  {
    name: "Fluent Bit, opentelemetry: the whole record as a map, no severity",
    source: "https://docs.fluentbit.io/manual/pipeline/outputs/opentelemetry",
    path: "/v1/logs",
    headers: { "Content-Type": "application/x-protobuf", "X-API-Key": apiKey },
    body: asProtobuf({
      records: [{ nanos, body: { log: "card declined", level: "error", order: 7n } }],
    }),
    events: [{ ts: time, level: "error", msg: "card declined", attrs: { order: 7 } }],
  },
];

for (const { name, source, path, headers, body, status = 200, events } of fixtures) {
  Deno.test(`${name} (${source})`, async () => {
    const received = await receive(path, { headers, body, credentials: {} });
    assert.equal(received.status, status, received.text);
    assert.deepEqual(received.events, events);
  });
}
