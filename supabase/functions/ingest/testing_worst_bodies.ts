import type { Bytes } from "./unpacked_bytes.ts";
import type { Recipe } from "./testing_body_costs.ts";
import { snappyLiteral } from "./protocols/testing_loki_requests.ts";

const json = { "Content-Type": "application/json" };
const protobuf = { "Content-Type": "application/x-protobuf" };
const msgpack = { "Content-Type": "application/msgpack" };
const encoder = new TextEncoder();

function repeated(bytes: readonly number[], limit: number): Bytes {
  const all = new Uint8Array(limit - limit % bytes.length);
  for (let at = 0; at < all.length; at += bytes.length) all.set(bytes, at);
  return all;
}

/** A field of a protobuf message, with a message in it. */
function field(number: number, inner: Uint8Array): Bytes {
  const length: number[] = [];
  let rest = inner.length;
  for (; rest >= 128; rest = Math.floor(rest / 128)) {
    length.push(rest % 128 + 128);
  }
  const head = [number << 3 | 2, ...length, rest];
  const all = new Uint8Array(head.length + inner.length);
  all.set(head);
  all.set(inner, head.length);
  return all;
}

function joined(parts: readonly Uint8Array[]): Bytes {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

const labels = (text: string) => (limit: number) =>
  snappyLiteral(field(1, field(1, encoder.encode(text.repeat(limit / text.length - 9)))));

/** A record with attributes of different names. */
function attributes(limit: number): Bytes {
  const count = Math.min(limit / 20, 190_000);
  const parts = Array.from(
    { length: count },
    (_, n) => field(6, joined([field(1, encoder.encode(`k${n}`)), new Uint8Array([0x12, 0])])),
  );
  return field(1, field(2, field(2, joined(parts))));
}

/** A resource with many attributes, and empty scopes. */
function scopes(limit: number): Bytes {
  const resource = joined(
    Array.from(
      { length: 1000 },
      (_, n) => field(1, joined([field(1, encoder.encode(`k${n}`)), new Uint8Array([0x12, 0])])),
    ),
  );
  const empty = repeated([0x12, 0], Math.min(limit - 20_000, 800_000));
  return field(1, joined([field(1, resource), empty]));
}

/** The most expensive bodies for their length that were found, by a random search and by people. */
export const worstBodies: readonly Recipe[] = [
  {
    name: "short lines that only begin as JSON",
    path: "/lines",
    again: '{\r ""#k#=1 "',
    between: "\n",
    most: 20_000,
  },
  { name: "labels without end", path: "/loki/api/v1/push", again: "", bytes: labels("a") },
  { name: "labels of signs", path: "/loki/api/v1/push", again: "", bytes: labels("a= ") },
  { name: "labels that do not close", path: "/loki/api/v1/push", again: "", bytes: labels('a="') },
  { name: "escapes in labels", path: "/loki/api/v1/push", again: "", bytes: labels('\\"') },
  {
    name: "streams with labels of ever new names",
    path: "/loki/api/v1/push",
    headers: json,
    before: '{"streams":[',
    again: '{"stream":{"a#":"1","b#":"1","c#":"1"},"values":[["1","a"]]}',
    between: ",",
    after: "]}",
    most: 20_000,
  },
  {
    name: "entries that share as many labels as there may be",
    path: "/loki/api/v1/push",
    headers: json,
    before: `{"streams":[{"stream":{${
      Array.from({ length: 1000 }, (_, n) => `"k${n}":"1"`)
    }},"values":[`,
    again: '["1","a"]',
    between: ",",
    after: "]}]}",
    most: 2_800,
  },
  {
    name: "entries about requests to ingest, under many labels",
    path: "/loki/api/v1/push",
    headers: json,
    before: `{"streams":[{"stream":{"source":"supabase",${
      Array.from({ length: 999 }, (_, n) => `"k${n}":"1"`)
    }},"values":[`,
    again: '["1","/functions/v1/ingest"]',
    between: ",",
    after: "]}]}",
  },
  { name: "a pair without end", path: "/lines", before: 'a="', again: "\\a" },
  { name: "pairs of ever new names", path: "/lines", again: "k#=1", between: " " },
  {
    name: "lines of pairs of ever new names",
    path: "/lines",
    again: Array.from({ length: 40 }, (_, n) => `k${n}x#=1`).join(" "),
    between: "\n",
    most: 20_000,
  },
  { name: "spaces", path: "/lines", again: " \t" },
  { name: "empty lines", path: "/lines", again: "\n" },
  { name: "a time without end", path: "/lines", before: "2026-11-21T12:34:56.", again: "0" },
  { name: "objects in a line", path: "/lines", again: "{}", most: 200_000 },
  { name: "lines that only begin as JSON", path: "/lines", again: '{"a":[1]}{', between: "\n" },
  { name: "quotes", path: "/services/collector", again: '"' },
  { name: "escaped quotes", path: "/services/collector", before: '{"', again: '\\"' },
  { name: "closing braces", path: "/services/collector", again: "}" },
  { name: "strings that open objects", path: "/services/collector", again: '{"' },
  {
    name: "fields of ever new names",
    path: "/services/collector",
    before: '{"event":"a","fields":{',
    again: '"k#":1',
    between: ",",
    after: "}}",
    most: 190_000,
  },
  {
    name: "numbers for names",
    path: "/drain/vercel",
    headers: json,
    before: "[{",
    again: '"#":1',
    between: ",",
    after: "}]",
    most: 190_000,
  },
  {
    name: "objects of ever new shapes",
    path: "/drain/vercel",
    headers: json,
    before: "[",
    again: `{${Array.from({ length: 14 }, (_, n) => `"k${n}x#":1`)}}`,
    between: ",",
    after: "]",
    most: 13_000,
  },
  {
    name: "ever new names with an underscore",
    path: "/gelf",
    before: "{",
    again: '"_k#":1',
    between: ",",
    after: "}",
    most: 190_000,
  },
  {
    name: "tags of ever new names",
    path: "/api/v2/logs",
    before: '[{"ddtags":"',
    again: "k#:1",
    between: ",",
    after: '"}]',
  },
  {
    name: "events with as many tags as are taken apart",
    path: "/api/v2/logs",
    before: "[",
    again: `{"ddtags":"${Array.from({ length: 30 }, (_, n) => `k${n}:1`)}"}`,
    between: ",",
    after: "]",
    most: 20_000,
  },
  {
    name: "scopes under many attributes",
    path: "/v1/logs",
    headers: json,
    before: `{"resourceLogs":[{"resource":{"attributes":[${
      Array.from({ length: 40 }, (_, n) => `{"key":"k${n}","value":{"stringValue":"x"}}`)
    }]},"scopeLogs":[`,
    again: "{}",
    between: ",",
    after: "]}]}",
    most: 390_000,
  },
  { name: "protobuf scopes", path: "/v1/logs", headers: protobuf, again: "", bytes: scopes },
  {
    name: "attributes of ever new names",
    path: "/v1/logs",
    headers: json,
    before: '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"attributes":[',
    again: '{"key":"k#"}',
    between: ",",
    after: "]}]}]}]}",
    most: 390_000,
  },
  { name: "protobuf keys", path: "/v1/logs", headers: protobuf, again: "", bytes: attributes },
  {
    name: "arrays in arrays",
    path: "/betterstack",
    headers: msgpack,
    again: "",
    bytes: (limit) => repeated([0xdd, 0, 0, 0, 9], limit),
  },
  {
    name: "times of MessagePack",
    path: "/betterstack",
    headers: msgpack,
    again: "",
    bytes: (limit) => {
      const items = repeated([0xd6, 0xff, 1, 2, 3, 4], Math.min(limit - 9, 6 * 65_535));
      const count = items.length / 6;
      return joined([
        new Uint8Array([0x91, 0x81, 0xa1, 0x61, 0xdc, count >> 8, count & 255]),
        items,
      ]);
    },
  },
  { name: "frames of a letter", path: "/drain/heroku", again: "1 a", most: 20_000 },
  {
    name: "frames that are lines",
    path: "/drain/heroku",
    again: "<1>1 a b c d e f\n",
    most: 20_000,
  },
  {
    name: "indices of the bulk API",
    path: "/es/_bulk",
    again: `{"create":{"_index":"${"i".repeat(200)}"}}\n{"a":"#"}\n`,
    most: 20_000,
  },
  {
    name: "depth",
    path: "/drain/netlify",
    before: "[",
    again: `${'{"a":'.repeat(9000)}1${"}".repeat(9000)}`,
    between: ",",
    after: "]",
    most: 40,
  },
  { name: "NUL", path: "/drain/cloudflare", before: '[{"msg":"', again: "\\u0000", after: '"}]' },
  {
    name: "meta that is text",
    path: "/logs/ingest",
    before: '{"lines":[',
    again: '{"line":"a","meta":"{\\"k#\\":[[[1]]]}","pad":"................................"}',
    between: ",",
    after: "]}",
    most: 20_000,
  },
  {
    name: "metadata of ever new names",
    path: "/logflare/logs",
    before: '{"batch":[{"metadata":{',
    again: '"k#":1',
    between: ",",
    after: "}}]}",
    most: 190_000,
  },
  {
    name: "names for every field, none of use",
    path: "/v1/ingest/x",
    before: "[",
    again: '{"@timestamp":{},"time":{},"log":{"level":{}},"message":{},"service":{"name":{}},' +
      '"req":{"id":{}},"http":{"request":{"id":{}},"route":{}},"dd":{"trace_id":{}}}',
    between: ",",
    after: "]",
    most: 20_000,
  },
  {
    name: "native events of ever new shapes",
    path: "",
    headers: json,
    before: "[",
    again: '{"k#":{"l#":{"m#":1}}}',
    between: ",",
    after: "]",
    most: 10_000,
  },
  ...Object.entries({
    "small numbers": "1e-300",
    "large numbers": "1e300",
    "numbers beyond a double": "1e999",
    "integers of 19 digits": "1234567890123456789",
    "integers of 16 digits": "9007199254740993",
    "zeros with a sign and an exponent": "-0.0e-9",
    "zeros with a long exponent": `0e${"9".repeat(250)}`,
    "fractions that end in zeros": `0.1${"0".repeat(290)}`,
    "zeros between two digits": `1${"0".repeat(140)}.${"0".repeat(140)}1`,
  }).flatMap(([name, again]): Recipe[] => [
    { name, path: "/lines", before: '{"n":[', again, between: ",", after: "]}", most: 590_000 },
    {
      name: `${name}, an event each`,
      path: "/drain/vercel",
      headers: json,
      before: "[",
      again: `{"n":${again}}`,
      between: ",",
      after: "]",
      most: 20_000,
    },
  ]),
  {
    name: "strings that look like numbers",
    path: "/lines",
    before: '{"n":["',
    again: ",1e5,",
    after: '"]}',
  },
];
