import { asJson, asProtobuf } from "./testing_otlp_requests.ts";

export type Bytes = Uint8Array<ArrayBuffer>;

/** The statuses of accepted and refused requests. Senders repeat none of them for ever. */
export const sound = new Set([200, 201, 202, 204, 400, 413, 415]);

export const utf8 = (text: string) => new TextEncoder().encode(text);

/** A recent hour, so that the events are accepted. It changes seldom, so that a seed gives the same bodies. */
const hour = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000).toISOString().slice(0, 13);
const nanos = BigInt(Date.parse(`${hour}:00:00Z`)) * 1_000_000n + 496_123_456_789n;

const event =
  `{"ts":"${hour}:34:56.789Z","level":"warn","message":"a\\u0000\\ud800b","__proto__":{"x":1},` +
  '"constructor":{"name":"c"},"toJSON":1,"log":{"level":"x"},"n":12345678901234567890,"e":1e400}';
const request = {
  resource: { "service.name": "shop", __proto__: "x" },
  scope: "s",
  records: [{
    nanos,
    number: 17,
    text: "FATAL",
    body: { message: "a\0b", list: [1n, "x", { deep: true }] },
    attributes: { "http.route": "/a", constructor: "c", big: 2n ** 62n },
    traceId: "5b8efff798038103d269b633813fc60c",
  }],
};

/** A body of each protocol, which is cut, changed and mixed up. */
export const seeds: [string, Record<string, string>, Bytes][] = [
  ["", { "Content-Type": "application/json" }, utf8(`[${event}]`)],
  ["", { "Content-Type": "application/x-ndjson" }, utf8(`${event}\n${event}`)],
  ["/lines", {}, utf8(`${event}\nts=1 level=warn msg="a"\n${hour}:34:56Z ERROR a`)],
  ["/v1/logs", { "Content-Type": "application/json" }, utf8(asJson(request))],
  ["/v1/logs", { "Content-Type": "application/x-protobuf" }, asProtobuf(request)],
  [
    "/loki/api/v1/push",
    { "Content-Type": "application/json" },
    utf8(`{"streams":[{"stream":{"app":"x"},"values":[["${nanos}","{}",{"a":"b"}]]}]}`),
  ],
  ["/loki/api/v1/push", {}, new Uint8Array([5, 16, 10, 3, 10, 1, 123])],
  ["/es/_bulk", {}, utf8(`{"create":{"_index":"a"}}\n${event}\n{"delete":{}}\n`)],
  [
    "/services/collector",
    {},
    utf8(`{"time":${nanos / 1_000_000_000n}.5,"event":${event},"fields":{"a":1}}{}`),
  ],
  ["/services/collector/raw", {}, utf8("a\nb")],
  ["/api/v2/logs", {}, utf8(`[{"message":"a","ddtags":"a:b,__proto__:c,env:d"}]`)],
  ["/v1/ingest/x", {}, utf8(`[${event}]`)],
  [
    "/betterstack",
    { "Content-Type": "application/msgpack" },
    new Uint8Array([145, 129, 161, 97, 192]),
  ],
  [
    "/betterstack",
    { "Content-Type": "application/msgpack" },
    // {-2^63: {2^64 - 1: 2^64 - 1}}
    new Uint8Array([
      ...[0x81, 0xd3, 0x80, 0, 0, 0, 0, 0, 0, 0, 0x81],
      ...Array(2).fill([0xcf, ...Array(8).fill(255)]).flat(),
    ]),
  ],
  ["/logflare/logs", {}, utf8(`{"batch":[{"message":"a","metadata":${event}}]}`)],
  ["/gelf", {}, utf8(`{"short_message":"a","level":3,"_a":1,"___proto__":2,"_":3}`)],
  ["/logs/ingest", {}, utf8(`{"lines":[{"line":"a","meta":"{\\"a\\":1}"}]}`)],
  ["/marker", {}, utf8(`{"release":"1","service":"a","url":"https://a","ts":1}`)],
  [
    "/marker",
    { "X-GitHub-Event": "deployment_status" },
    utf8(`{"deployment_status":{"state":"success"},"deployment":{"sha":"a","ref":"v1.2"}}`),
  ],
  ["/drain/supabase", {}, utf8(`[{"event_message":"a","metadata":${event}}]`)],
  ["/drain/vercel", {}, utf8(`[${event}]`)],
  ["/drain/cloudflare", {}, utf8(`{"EdgeResponseStatus":"x","ClientRequestMethod":{}}`)],
  ["/drain/heroku", {}, utf8("20 <11>1 - - - - - a b c30 x")],
];

export const encodings = ["", "gzip", "deflate", "zstd", "snappy", "gzip, deflate", "identity"];

/** The first bytes of bodies in some encodings and protocols. */
export const magics: number[][] = [
  [],
  [0x1f, 0x8b, 8],
  [0x28, 0xb5, 0x2f, 0xfd],
  [0x78, 0x9c],
  [0x0a],
  [0x93],
];
