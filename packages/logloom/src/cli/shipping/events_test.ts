import assert from "node:assert/strict";
import { eventOf, isOfShipper } from "./events.ts";

Deno.test("a line that is a JSON object is an event as it was written, any other is a message", () => {
  const cases: [string, string | undefined][] = [
    ['{"msg":"a","n":12345678901234567890}', '{"msg":"a","n":12345678901234567890}'],
    ['  {"msg":"a"} ', '{"msg":"a"}'],
    ["plain text", '{"msg":"plain text"}'],
    ["  indented", '{"msg":"  indented"}'],
    ['{"broken', '{"msg":"{\\"broken"}'],
    ['["a"]', '{"msg":"[\\"a\\"]"}'],
    ["7", '{"msg":"7"}'],
    ["", undefined],
    [" \t ", undefined],
  ];
  for (const [line, event] of cases) assert.equal(eventOf(line, {}), event);
});

Deno.test("defaults fill what a line does not say", () => {
  const defaults = { service: "web", env: "prod" };
  const cases: [string, string][] = [
    ["text", '{"service":"web","env":"prod","msg":"text"}'],
    ["{}", '{"service":"web","env":"prod"}'],
    ["{ }", '{"service":"web","env":"prod"}'],
    ['{"msg":"a","env":"test"}', '{"service":"web","msg":"a","env":"test"}'],
    ['{"service":null,"env":"x"}', '{"service":null,"env":"x"}'],
  ];
  for (const [line, event] of cases) assert.equal(eventOf(line, defaults), event);
});

Deno.test("an event without a time gets that when its line was read", () => {
  const at = "2026-11-21T10:00:00.000Z";
  const cases: [string, string][] = [
    ["text", `{"service":"web","ts":"${at}","msg":"text"}`],
    ['{"msg":"a"}', `{"service":"web","ts":"${at}","msg":"a"}`],
    ['{"msg":"a","timestamp":1}', '{"service":"web","msg":"a","timestamp":1}'],
  ];
  for (const [line, event] of cases) assert.equal(eventOf(line, { service: "web" }, at), event);
});

Deno.test("lines about the shipper's own requests are known", () => {
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
