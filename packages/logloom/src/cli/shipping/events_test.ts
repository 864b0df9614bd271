import assert from "node:assert/strict";
import {
  EventCollector,
  storableJson,
} from "../../../../../supabase/functions/ingest/event_collector.ts";
import { parseJson } from "../../../../../supabase/functions/ingest/json_reader.ts";
import { addLine } from "../../../../../supabase/functions/ingest/protocols/ndjson_and_text.ts";
import { eventsOf, isOfShipper } from "./events.ts";

const jsonOf = (line: string, defaults = {}, readAt?: string) =>
  eventsOf(line, defaults, readAt).map(({ json }) => json);

Deno.test("a JSON object on a line becomes an event unchanged; any other line becomes a message", () => {
  const cases: string[][] = [
    ['{"msg":"a","n":12345678901234567890}', '{"msg":"a","n":12345678901234567890}'],
    ['  {"msg":"a"} ', '{"msg":"a"}'],
    ["plain text", '{"msg":"plain text"}'],
    ["  indented", '{"msg":"  indented"}'],
    ['{"broken', '{"msg":"{\\"broken"}'],
    ['["a"]', '{"msg":"[\\"a\\"]"}'],
    ['{"a":12345678901234567890}{"b":2}', '{"a":12345678901234567890}', '{"b":2}'],
    ['[{"a":1},{"b":2}]', '{"a":1}', '{"b":2}'],
    ['{"logs":[{"a":1}]}', '{"a":1}'],
    ["7", '{"msg":"7"}'],
    [""],
    [" \t "],
  ];
  for (const [line, ...events] of cases) assert.deepEqual(jsonOf(line), events, line);
});

Deno.test("defaults fill the fields that a line does not have", () => {
  const defaults = { service: "web", env: "prod" };
  const cases: [string, string][] = [
    ["text", '{"service":"web","env":"prod","msg":"text"}'],
    ["{}", '{"service":"web","env":"prod"}'],
    ["{ }", '{"service":"web","env":"prod"}'],
    ['{"msg":"a","env":"test"}', '{"service":"web","msg":"a","env":"test"}'],
    ['{"service":null,"env":"x"}', '{"service":null,"env":"x"}'],
    ['{"app":"shop","env":"x"}', '{"app":"shop","env":"x"}'],
    ["app=shop env=x", '{"app":"shop","env":"x","msg":"app=shop env=x"}'],
  ];
  for (const [line, event] of cases) assert.deepEqual(jsonOf(line, defaults), [event]);
});

Deno.test("an event without a time gets the time at which its line was read", () => {
  const at = "2026-11-21T10:00:00.000Z";
  const cases: [string, string][] = [
    ["text", `{"service":"web","ts":"${at}","msg":"text"}`],
    ['{"msg":"a"}', `{"service":"web","ts":"${at}","msg":"a"}`],
    ['{"msg":"a","timestamp":1795287241}', '{"service":"web","msg":"a","timestamp":1795287241}'],
    // A text that is not a time does not count as one.
    ['{"msg":"a","time":"soon"}', `{"service":"web","ts":"${at}","msg":"a","time":"soon"}`],
  ];
  for (const [line, event] of cases) {
    assert.deepEqual(jsonOf(line, { service: "web" }, at), [event]);
  }
});

Deno.test("lines about the shipper's own requests are recognised", () => {
  for (
    const line of [
      '{"attrs":{"user_agent":"logloom-ship"}}',
      '{"user_agent":"logloom-ship/1.0"}',
      '::1 - - [21/Nov/2026] "POST /functions/v1/ingest" 200 52 "-" "logloom-ship"',
    ]
  ) assert.ok(isOfShipper(line), line);
  for (
    const line of [
      '{"attrs":{"user_agent":"curl"},"msg":"logloom-ship started"}',
      '{"attrs":null,"msg":"logloom-ship"}',
      "started logloom-ship",
      "",
    ]
  ) assert.ok(!isOfShipper(line), line);
});

Deno.test("a line of text becomes the record that /ingest/lines makes of it", () => {
  for (
    const line of [
      "2026-11-21T12:34:56Z ERROR card declined",
      "[2026-11-21 12:34:56,789] [warn] slow",
      "WARNING: disk",
      "  indented",
      'level=error msg="card declined" took=12.50 ts=2026-11-21T12:34:56.1234567Z',
      '192.0.2.1 - ann [21/Nov/2026:12:34:56 +0100] "GET /pay?id=1 HTTP/1.1" 500 42 "-" "curl/8.5"',
      '{"a":1}{"b":2,"time":"2026-11-21T12:34:56Z"}',
      '{"level":"WARNING","n":0.10000000000000000001}',
    ]
  ) {
    const received = new EventCollector(10);
    addLine(line, { parse: parseJson }, {}, received);
    const shipped = new EventCollector(10);
    const events = eventsOf(line, {});
    for (const { json } of events) shipped.add(parseJson(json));
    assert.deepEqual(storableJson(shipped.batch()), storableJson(received.batch()), line);
    assert.equal(events.every(({ hasOwnTime }) => hasOwnTime), received.haveOwnTimes, line);
  }
});
