import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { textFields } from "../../supabase/functions/_shared/record_fields.ts";
import { assertAnswer, health, ingest, newTenant } from "../support/client.ts";
import { countRecords, openDatabase, queueIsEmpty, recordsOf } from "../support/database.ts";
import { becomes } from "../support/eventually.ts";

const accepted = (ingested: number) => ({ success: true, ingested, rejected: 0 });

async function assertNothingIsStuck(tenantId: string): Promise<void> {
  await using db = openDatabase();
  await queueIsEmpty(db);
  const [{ dead }] = await db`select count(*)::integer as dead from logloom_private.dead_letters
    where tenant_id = ${tenantId}`;
  assert.equal(dead, 0);
  // Waits, because earlier tests may have killed processes, and the database may be slow.
  await becomes("healthy", async () => (await health("/detailed")).body.status);
}

Deno.test("hostile bodies get the right status, and accepted events are stored", async () => {
  const tenant = await newTenant();
  const nested = (depth: number, inner = "1") => "[".repeat(depth) + inner + "]".repeat(depth);
  const objects = (depth: number) => '{"a":'.repeat(depth) + "1" + "}".repeat(depth);
  const cases: [what: string, body: string | Uint8Array, status: number, answer: unknown][] = [
    ["10,000 empty events", `[${Array(10_000).fill("{}").join(",")}]`, 200, accepted(10_000)],
    ["one string of 512,000 bytes", `"${"x".repeat(511_998)}"`, 400, {
      error: 'Invalid body: expected an array of log events, a log event, or {"logs": [...]}',
    }],
    ["one msg of 512,000 bytes", `{"msg":"${"x".repeat(511_990)}"}`, 200, accepted(1)],
    ["one key of 500,000 bytes", `{"${"k".repeat(500_000)}":1}`, 200, accepted(1)],
    ["60,000 characters in each field", JSON.stringify(eachField(60_000)), 200, accepted(1)],
    ["50,000 members", `{${numbered(50_000)}}`, 200, accepted(1)],
    ["500,000 NULs as escapes", `{"msg":"${"\\u0000".repeat(85_000)}"}`, 200, accepted(1)],
    ["NULs in a key", '{"a\\u0000b":"\\u0000","attrs":{"\\u0000":"\\u0000"}}', 200, accepted(1)],
    ["lone surrogates", '{"msg":"\\udc00\\ud800","\\ud800":"\\udfff"}', 200, accepted(1)],
    ["bare NUL", '{"msg":"\u0000"}', 400, undefined],
    ["invalid UTF-8 in a string", bytes('{"msg":"', 0xff, 0xc0, '"}'), 200, accepted(1)],
    ["byte order mark", bytes(0xef, 0xbb, 0xbf, '{"msg":"bom"}'), 200, accepted(1)],
    ["UTF-16", new Uint8Array(new Uint16Array([0x5b, 0x5d]).buffer), 200, accepted(0)],
    ["deep arrays in attrs", `{"attrs":{"a":${nested(100_000)}}}`, 200, accepted(1)],
    ["deep objects", objects(80_000), 200, accepted(1)],
    ["deep and unfinished", "[".repeat(400_000), 400, undefined],
    ["a deep array", nested(200_000), 200, undefined],
    ["huge numbers", '{"a":1e400,"b":-1e400,"c":1e-400,"d":123456789012345678901234567890}', 200],
    ["an endless number", `{"a":${"9".repeat(500_000)}}`, 200, accepted(1)],
    ["an endless fraction", `{"msg":0.${"1".repeat(500_000)}}`, 200, accepted(1)],
    ["an endless ts", `{"ts":${"9".repeat(1_000)}}`, 200, undefined],
    ["a ts of 1e308", '{"ts":1e308}', 200, undefined],
    ["a ts in year 0", '{"ts":"0000-01-01T00:00:00Z"}', 200, undefined],
    ["a ts of infinity", '[{"ts":"infinity"},{"ts":"now"},{"ts":"epoch"}]', 200, undefined],
    ["duplicate members", '{"msg":"a","msg":"b","ts":1,"ts":null}', 200, accepted(1)],
    ["members of Object", '{"__proto__":1,"constructor":2,"toString":3}', 200, accepted(1)],
    ["array literals of SQL", '[{"msg":"{}"},{"msg":"NULL"},{"msg":"{a,\\"b"}]', 200, accepted(3)],
    ["SQL", `{"msg":"'; drop table logloom.logs; --","level":"info'"}`, 200, undefined],
    ["NaN", '{"a":NaN}', 400, undefined],
    ["single quotes", "{'msg':'a'}", 400, undefined],
    ["two values", "{} {}", 400, undefined],
  ].map(([what, body, status, answer]) => [what, body, status, answer]) as never;
  let stored = 0;
  for (const [what, body, status, answer] of cases) {
    const got = await ingest(tenant.headers, body);
    assert.equal(got.status, status, `${what}: ${JSON.stringify(got.body).slice(0, 200)}`);
    if (answer !== undefined) assertAnswer(got, status, answer);
    stored += Number(got.body.ingested ?? 0);
  }
  await assertNothingIsStuck(tenant.id);
  await using db = openDatabase();
  assert.equal(await countRecords(db, tenant.id), stored);
});

/** Makes random texts, because an index accepts long texts that compress well. */
function eachField(size: number): Record<string, string> {
  const random = () => {
    const parts = Array.from({ length: size / 20_000 }, () => new Uint8Array(15_000));
    return parts.map((part) => Buffer.from(crypto.getRandomValues(part)).toString("base64")).join(
      "",
    );
  };
  return Object.fromEntries(textFields.map((field) => [field, random()]));
}

function numbered(count: number): string {
  return Array.from({ length: count }, (_, index) => `"${index}":0`).join(",");
}

function bytes(...parts: (string | number)[]): Uint8Array {
  const encoder = new TextEncoder();
  return new Uint8Array(
    parts.flatMap((part) => typeof part === "number" ? [part] : [...encoder.encode(part)]),
  );
}

Deno.test("hostile events are stored as sent", async () => {
  const character = fc.oneof(
    fc.constantFrom(
      ..."\u0000\u0001\u001f\u007f\u2028\ufeff\ufffd\ufffe\"\\'{},()[]:/ \t\r\n%_$`",
      "\ud800",
      "\udfff",
      "\udc00\ud800",
      "\u{1f600}",
      "NULL",
      "null",
      "\\N",
      "\\x",
      "\\u0000",
      "e\u0301",
    ),
    fc.string({ unit: "binary", minLength: 1, maxLength: 3 }),
  );
  const text = fc.array(character, { maxLength: 12 }).map((parts) => parts.join(""));
  const number = fc.oneof(
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(0, 1e21, 1e-7, Number.MAX_SAFE_INTEGER, Number.MAX_VALUE, Number.MIN_VALUE),
  );
  const scalar = fc.oneof(text, number, fc.boolean());
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.oneof(scalar, fc.constant(null)),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(key, tie("value"), { maxKeys: 4 }),
    ),
  }));
  const fields = fc.record(
    Object.fromEntries(textFields.map((field) => [field, fc.oneof(scalar, fc.constant(null))])),
    { requiredKeys: [] },
  );
  const event = fc.tuple(fields, fc.option(fc.dictionary(key, value, { maxKeys: 5 })))
    .map(([fields, attrs]) => ({ ...fields, ...(attrs && { attrs }) }));

  await using db = openDatabase();
  await fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 200, maxLength: 400 }), async (events) => {
      const tenant = await newTenant();
      assertAnswer(await ingest(tenant.headers, events), 200, accepted(events.length));
      const records = await recordsOf(db, tenant.id, events.length);
      assert.equal(records.length, events.length);
      for (const [index, sent] of events.entries()) {
        const stored = records[index];
        for (const field of textFields) {
          const given = (sent as Record<string, unknown>)[field];
          const expected = given === undefined || given === null ? null : storable(textOf(given));
          assert.equal(stored[field], expected, `${field} of ${JSON.stringify(sent)}`);
        }
        const attrs = JSON.parse(JSON.stringify(sent.attrs ?? {}));
        const expected = Object.keys(attrs).length === 0 ? null : storableJson(attrs);
        assert.deepEqual(stored.attrs, expected, JSON.stringify(sent));
      }
      assert.equal(await countRecords(db, tenant.id), events.length);
      await assertNothingIsStuck(tenant.id);
    }),
    { numRuns: 5, endOnFailure: true },
  );
});

/** Returns the text of a scalar in a text field. A number is written without exponent, up to 40 characters. */
function textOf(value: unknown): string {
  const sent = String(value);
  if (typeof value !== "number" || !sent.includes("e")) return sent;
  const text = writtenOut(sent);
  return text.length > Math.max(40, sent.length) ? sent : text;
}

function writtenOut(sent: string): string {
  const [digits, exponent] = sent.split("e");
  const sign = digits.startsWith("-") ? "-" : "";
  const [whole, fraction = ""] = digits.replace("-", "").split(".");
  const point = Number(exponent);
  return point < 0
    ? `${sign}0.${"0".repeat(-point - 1)}${whole}${fraction}`
    : `${sign}${whole}${fraction.padEnd(point, "0")}`;
}

// Keys have no NUL, because two keys could become equal without it.
const key = fc.oneof(
  fc.string({ unit: "binary", maxLength: 6 }).filter((key) => !key.includes("\u0000")),
  fc.constantFrom("__proto__", "constructor", "", " ", "a.b", "$ref", "{}", "level", "msg"),
);

function storable(text: string): string {
  return text.replaceAll("\u0000", "\ufffd").toWellFormed();
}

function storableJson(value: unknown): unknown {
  if (typeof value === "string") return storable(value);
  if (typeof value === "number" && textOf(value).includes("e")) return textOf(value);
  if (Array.isArray(value)) return value.map(storableJson);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([key, member]): [string, unknown] => [
    storable(key),
    storableJson(member),
  ]);
  return Object.fromEntries(members);
}
