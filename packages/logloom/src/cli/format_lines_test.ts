import assert from "node:assert/strict";
import { LogloomError } from "../read/error.ts";
import { harmless, humanLine, jsonLine, refusalLines, statLines } from "./format_lines.ts";
import { timeOf, wholeNumber } from "./options.ts";

const record = {
  ts: "2026-11-21T10:00:00.5Z",
  level: "error" as const,
  msg: "card declined",
  service: "shop",
  attrs: { order: 5, note: "a\x1b[2Jb" },
};

Deno.test("a record is a line: level, service, message, attributes", () => {
  const line = humanLine(record, false);
  assert.match(line, /error shop {9}card declined order=5 note=a␛\[2Jb$/);
  assert.ok(humanLine(record, true).includes("\x1b[31merror\x1b[0m"));
  assert.match(
    humanLine({ ...record, level: null, service: null, msg: null, attrs: null }, false),
    /- {5}- /,
  );
});

Deno.test("a log cannot write to the terminal", () => {
  assert.equal(harmless("\x1b]0;title\x07\u009b2J\u202e\r\nx\ty"), "␛]0;title␇<9b>2J<202e> ↵ x  y");
  const line = jsonLine({ msg: "\x1b[2J\u009b\u202e" });
  // deno-lint-ignore no-control-regex
  assert.doesNotMatch(line, /[\x00-\x1f\x7f-\x9f\u202e]/);
  assert.deepEqual(JSON.parse(line), { msg: "\x1b[2J\u009b\u202e" });
});

Deno.test("rows of an aggregate stand in columns", () => {
  const rows = [
    { group: { service: "web" }, value: 1200, values: { count: 1200, p95: 3.5 } },
    { group: { service: null }, value: 7, values: { count: 7, p95: null } },
  ];
  assert.deepEqual(statLines(rows), [
    "service  count   p95",
    "web       1200   3.5",
    "-            7  null",
  ]);
});

Deno.test("an error shows the place in the query", () => {
  const error = new LogloomError(400, {
    message: 'Unknown level "loud"',
    hint: "A level is debug …",
    details: { position: 11 },
  }, 0);
  assert.deepEqual(refusalLines(error, "日本 level:loud"), [
    'logloom: Unknown level "loud"',
    "  日本 level:loud",
    "            ^",
    "  A level is debug …",
  ]);
  assert.deepEqual(refusalLines(error, "\tx  level:loud").slice(1, 3), [
    "    x  level:loud",
    "             ^",
  ]);
  // A query from a file is not shown.
  assert.deepEqual(refusalLines(error, ""), [
    'logloom: Unknown level "loud"',
    "  A level is debug …",
  ]);
});

Deno.test("operations and parameters are named as commands and options", () => {
  const error = new LogloomError(400, {
    message: 'Invalid p_ts_from: "p_limit" is not a time',
    hint: "rotate_api_key or create_api_key makes another; update_log_view mends p_config.",
  }, 0);
  assert.deepEqual(refusalLines(error, ""), [
    'logloom: Invalid --since: "p_limit" is not a time',
    "  keys rotate or keys create makes another; update_log_view mends config.",
  ]);
});

Deno.test("--since takes a duration or a time and refuses other words", () => {
  assert.equal(timeOf("--since", "15m"), "now-15m");
  assert.equal(timeOf("--since", "now-1h"), "now-1h");
  assert.equal(timeOf("--since", "2026-11-21T10:00"), "2026-11-21T10:00");
  assert.equal(timeOf("--since", undefined), undefined);
  assert.throws(() => timeOf("--since", "an hour"), /--since takes a while such as 15m/);
  assert.throws(
    () => wholeNumber("--limit", "0", 1, 5),
    /--limit takes a whole number from 1 to 5/,
  );
});
