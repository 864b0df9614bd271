import assert from "node:assert/strict";
import fc from "fast-check";
import { eventFields } from "../_shared/record_fields.ts";
import { type Batch, batchJson, EventCollector } from "./event_collector.ts";
import { batchText } from "./request_text.ts";
import { parametersOf } from "./testing.ts";

function batchOf(events: Record<string, unknown>[]): Batch {
  const collector = new EventCollector(10_000);
  for (const event of events) collector.add(event);
  return collector.batch();
}

/** A text after a round trip through UTF-8, as the database gets it. */
const received = (text: string) => new TextDecoder().decode(new TextEncoder().encode(text));

// deno-lint-ignore no-control-regex
const separators = /[\x1c-\x1f]/g;
const parameters = { p_tenant_id: "acme", p_bytes: 7 };

Deno.test("a request is JSON of its parameters and its columns, in the order of the fields", () => {
  const batch = batchOf([
    { ts: "2026-11-21T12:00:00Z", level: "warn", msg: 'a "b"\n', host: "h", x: [1, null] },
    { level: "info", msg: "", host: null },
  ]);
  assert.equal(
    batchText(batch, parameters),
    '{"p_tenant_id":"acme","p_bytes":7}' +
      '\x1e2026-11-21T12:00:00Z\x1f\x1d\x1ewarn\x1finfo\x1ea "b"\n\x1f' +
      '\x1e\x1e\x1e\x1e\x1e\x1eh\x1f\x1d\x1e[{"x":[1,null]},null]',
  );
});

Deno.test("a text with a separator or NUL, or a column of one empty text, makes the request JSON", () => {
  for (const msg of ["\x1c", "a\x1d", "\x1eb", "a\x1fb", "\0", ""]) {
    const batch = batchOf([{ msg }]);
    assert.equal(batchText(batch, parameters), batchJson(batch, parameters));
    assert.doesNotMatch(batchText(batch, parameters), separators);
  }
});

Deno.test("separators in attrs and in parameters are escaped", () => {
  const collector = new EventCollector(10);
  collector.reject("not_an_object", "a\x1eb");
  collector.add({ attrs: { "a\x1c": "\x1d\x1e\x1f\0" } });
  const text = batchText(collector.batch(), { ...parameters, p_claims: { sub: "\x1f" } });
  const columns = "\x1e".repeat(eventFields.length);
  assert.equal(text.match(separators)?.join(""), columns.replace("\x1e", "\x1e\x1d"));
  assert.deepEqual(parametersOf(text), {
    ...parameters,
    p_claims: { sub: "\x1f" },
    p_rejected: 1,
    p_errors: [{ index: 0, code: "not_an_object", message: "a\x1eb" }],
    p_positions: [1],
    p_ts: [null],
    p_attrs: [{ "a\x1c": "\x1d\x1e\x1f\uFFFD" }],
  });
});

const hostileText = fc.string({
  unit: fc.oneof(
    { weight: 6, arbitrary: fc.string({ unit: "binary", minLength: 1, maxLength: 1 }) },
    { weight: 3, arbitrary: fc.constantFrom('"', "\\", "'", "{", ",", "\n", "null", "NULL", "é") },
    { weight: 1, arbitrary: fc.constantFrom("\0", "\x1c", "\x1d", "\x1e", "\x1f") },
    { weight: 1, arbitrary: fc.constantFrom("\ud800", "\udfff", "\u{1F600}", "\u2028") },
  ),
  maxLength: 12,
});
const mostlyTame = fc.oneof(
  { weight: 8, arbitrary: fc.string({ maxLength: 12 }) },
  { weight: 2, arbitrary: fc.constantFrom(null, "", 7, true, "\ud800x", "null") },
  { weight: 1, arbitrary: hostileText },
);
const event = fc.record({
  ts: fc.constantFrom("2026-11-21T12:00:00Z", "never", null),
  level: fc.constantFrom("info", "odd\x1e", null),
  msg: mostlyTame,
  service: mostlyTame,
  req_id: mostlyTame,
  host: mostlyTame,
  extra: fc.oneof(mostlyTame, fc.dictionary(hostileText, hostileText, { maxKeys: 3 })),
}, { requiredKeys: [] });

Deno.test("both forms have the same content for random hostile events", () => {
  let texts = 0;
  fc.assert(
    fc.property(fc.array(event, { maxLength: 5 }), (events) => {
      const batch = batchOf(structuredClone(events));
      const text = batchText(batch, parameters);
      const json = batchJson(batch, parameters);
      if (text !== json) texts++;
      assert.ok(!text.includes("\0"));
      assert.deepEqual(parametersOf(received(text)), JSON.parse(received(json)));
    }),
    { numRuns: 3000 },
  );
  assert.ok(texts > 500, String(texts));
});
