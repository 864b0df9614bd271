import assert from "node:assert/strict";
import fc from "fast-check";
import { textFields } from "../_shared/record_fields.ts";
import { type Batch, batchJson, EventCollector } from "./event_collector.ts";
import { cutRecords } from "./cut_records.ts";
import { jsonTextOf, parseJson } from "./json_reader.ts";

const maxBytes = 1024 * 1024;
/** The bytes of a record's time and level. */
const bare = 41;

/** The request for the database after cutting. */
function cut(
  events: unknown[],
  limit = maxBytes,
  maxValues?: number,
): { batch: Batch; sent: string } {
  const collector = new EventCollector(events.length);
  for (const event of events) collector.add(parseJson(jsonTextOf(event)));
  const batch = cutRecords(collector.batch(), limit, maxValues);
  return { batch, sent: batchJson(batch, {}) };
}

/** A single event, as it is stored. */
function stored(event: unknown, limit = maxBytes, maxValues?: number) {
  const { sent } = cut([event], limit, maxValues);
  const { count, columns } = sentColumns(sent);
  const record = Object.fromEntries(
    Object.entries(columns).map(([name, [value]]) => [name.slice(2), value]),
  );
  return { record, count, bytes: bytesOf(sent) };
}

function sentColumns(sent: string): { count?: number; columns: Record<string, unknown[]> } {
  const { p_ts: _, p_cut: count, p_level: _level, ...columns } = JSON.parse(sent);
  return { count, columns };
}

/** The database's length of the first record, without its level and times. */
function bytesOf(sent: string): number {
  const { columns } = sentColumns(sent);
  return Object.values(columns)
    .map(([value]) => jsonbLength(value)).reduce((a, b) => a + b, 0) +
    4 * (8 - Object.keys(columns).length) + bare;
}

const encoder = new TextEncoder();

function jsonbLength(value: unknown): number {
  if (Array.isArray(value)) {
    return value.reduce((sum, item) => sum + jsonbLength(item) + 2, value.length > 0 ? 0 : 2);
  } else if (typeof value === "object" && value !== null) {
    const members = Object.entries(value);
    return members.reduce(
      (sum, [key, member]) => sum + jsonbLength(key) + jsonbLength(member) + 4,
      members.length > 0 ? 0 : 2,
    );
  }
  const json = JSON.stringify(value);
  return typeof value === "string" ? encoder.encode(json).length : json.length;
}

Deno.test("a record that is not too long stays as it is", () => {
  const event = { msg: "a".repeat(500_000), list: [1, 2], logloom_cut: "mine" };
  const { batch } = cut([event, { msg: "b" }]);
  assert.equal(batch.p_cut, undefined);
  assert.deepEqual(batch.p_attrs, [{ list: [1, 2], logloom_cut: "mine" }, null]);
  assert.deepEqual(batch.p_msg, ["a".repeat(500_000), "b"]);
});

Deno.test("a record of exactly the limit stays whole, and one byte more is cut", () => {
  const limit = 65_536;
  const room = limit - bare - 6 * "null".length - '""'.length - '{"a": ""}'.length;
  for (const [letters, count] of [[room, undefined], [room + 1, 1]] as const) {
    const { record, count: found } = stored({ msg: "", a: "x".repeat(letters) }, limit);
    assert.equal(found, count);
    if (count === undefined) {
      assert.deepEqual(record.attrs, { a: "x".repeat(room) });
    }
  }
});

Deno.test("only the longest texts are cut, all to the same length", () => {
  const { record, count, bytes } = stored({
    msg: "m".repeat(3_000_000),
    service: "api",
    small: "s".repeat(20_000),
    error: { stack: ["x", "y".repeat(2_000_000)], code: 5 },
  });
  assert.equal(count, 1);
  assert.ok(bytes <= maxBytes && bytes > 0.9 * maxBytes, String(bytes));
  const { small, error, logloom_cut } = record.attrs as Record<string, never>;
  const { stack, code } = error as { stack: string[]; code: number };
  assert.deepEqual(logloom_cut, { msg: 3_000_000, "attrs.error.stack.1": 2_000_000 });
  assert.deepEqual([record.service, small, code, stack[0]], ["api", "s".repeat(20_000), 5, "x"]);
  assert.equal((record.msg as string).length, stack[1].length);
});

Deno.test("a text is cut between characters, however many bytes they have", () => {
  for (const letter of ["🎈", "é", "日", "\u0001", '"', "\n", "\ud800"]) {
    for (const before of ["", "a", "ab", "abc"]) {
      const { record, bytes } = stored({ msg: before + letter.repeat(400_000) }, 65_536);
      const msg = record.msg as string;
      assert.ok(msg.isWellFormed());
      assert.ok(bytes <= 65_536 && bytes > 0.9 * 65_536, `${letter} ${bytes}`);
      const kept = letter.toWellFormed();
      assert.equal(msg, before + kept.repeat((msg.length - before.length) / kept.length));
      assert.deepEqual(record.attrs, { logloom_cut: { msg: 400_000 + before.length } });
    }
  }
});

Deno.test("a sender's own logloom_cut is replaced if the record is cut", () => {
  const { record } = stored({ msg: "m".repeat(2_000_000), logloom_cut: { msg: 5 } });
  assert.deepEqual(record.attrs, {
    logloom_cut: { msg: 2_000_000, "attrs.logloom_cut": '{"msg": 5}'.length },
  });
});

Deno.test("an array or object of too many small values keeps the first of them", () => {
  const numbers = Array(590_000).fill(1e300);
  const { record, bytes } = stored({ msg: "m", n: numbers, after: "x" });
  assert.ok(bytes <= maxBytes && bytes > 0.9 * maxBytes, String(bytes));
  const { n, after, logloom_cut } = record.attrs as Record<string, string[]>;
  assert.deepEqual([record.msg, after, logloom_cut], ["m", "x", { "attrs.n": 590_000 }]);
  assert.ok(n.length > 80_000);
  assert.equal(n[n.length - 1], "1e+300");

  const keys = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`a key ${i}`, i]));
  const { record: { attrs } } = stored({ host: "h", attrs: keys });
  const kept = Object.keys(attrs as object);
  assert.deepEqual(kept.slice(0, 2), ["a key 0", "a key 1"]);
  assert.deepEqual((attrs as Record<string, unknown>).logloom_cut, { attrs: 100_000 });
  assert.ok(kept.length > 40_000);
});

/** The number of values, counted like `logloom_private.has_more_values`. */
function valuesOf(value: unknown): number {
  const json = JSON.stringify(value).replace(/"(?:[^"\\]|\\.)*"/g, "");
  return json.split(/[,:]/).length - 1 + 12 * (json.split(/[[{]/).length - 1);
}

Deno.test("a record with the maximum number of values stays whole, and a record with one more is cut", () => {
  // These count in addition to the elements: two objects and an array (eleven each), two members, and an empty object.
  for (const [count, cut] of [[962, undefined], [963, 1]] as const) {
    const { record, count: found } = stored({ n: Array(count).fill(1), o: {} }, maxBytes, 1000);
    assert.equal(found, cut);
    if (cut === undefined) assert.equal(valuesOf(record.attrs), 1000);
  }
});

Deno.test("the first of too many values are kept, and texts stay whole", () => {
  const numbers = Array.from({ length: 340_000 }, (_, i) => i % 10);
  const text = "a, [b], {c}".repeat(20_000);
  const { record } = stored({ msg: text, n: numbers, t: text, small: [1] }, maxBytes, 80_000);
  const { n, t, small, logloom_cut } = record.attrs as Record<string, unknown>;
  assert.deepEqual(logloom_cut, { "attrs.n": 340_000 });
  assert.deepEqual([record.msg, t, small], [text, text, [1]]);
  const kept = n as number[];
  assert.ok(kept.length > 74_000, String(kept.length));
  assert.deepEqual(kept, numbers.slice(0, kept.length));
});

Deno.test("a record with too many values that is also too long is noted with its original length", () => {
  const { record, bytes } = stored(
    { n: Array(400_000).fill(7), t: "x".repeat(900_000) },
    maxBytes,
    80_000,
  );
  const { n, t, logloom_cut } = record.attrs as { n: number[]; t: string; logloom_cut: unknown };
  assert.deepEqual(logloom_cut, { "attrs.n": 400_000, "attrs.t": 900_000 });
  assert.ok(n.length > 74_000 && t.length > 600_000, `${n.length} ${t.length}`);
  assert.ok(bytes <= maxBytes, String(bytes));
});

Deno.test("without a limit from the database any number of values is kept", () => {
  const { count } = stored({ n: Array(340_000).fill(1) });
  assert.equal(count, undefined);
});

/** Shapes that are also cut to the real limit, which takes ten times as long. */
const cutToMaxBytes = new Set(["numbers", "keys", "deep", "all fields", "empty arrays"]);

/** Ways to make a record long: at size 1 several times as long as the largest limit. */
const shapes: Record<string, (size: number) => unknown> = {
  "numbers": (size) => ({ n: Array(590_000 * size).fill(1e300) }),
  "numbers written out": (size) => ({ n: Array(300_000 * size).fill(1e39) }),
  "keys": (size) => manyOf(100_000 * size, (i) => [`key number ${i}`, 1]),
  "deep": (size) =>
    JSON.parse(`${'{"a":['.repeat(3000)}"${"x".repeat(3_000_000 * size)}"${"]}".repeat(3000)}`),
  "deep and wide": (size) =>
    JSON.parse(
      `${'{"a":1,"b":["x",'.repeat(60)}"${"x".repeat(3_000_000 * size)}"${"]}".repeat(60)}`,
    ),
  "one text": (size) => ({ t: "x".repeat(8_000_000 * size) }),
  "all fields": (size) => ({
    ...Object.fromEntries(textFields.map((name) => [name, "x".repeat(1_000_000 * size)])),
    level: "info",
    ts: "2026-11-21T10:00:00.123456Z",
  }),
  "control letters": (size) => ({
    msg: "\u0001".repeat(3_000_000 * size),
    a: "\u0002".repeat(3_000_000 * size),
  }),
  "long keys": (size) => ({
    ["k".repeat(4_000_000 * size)]: 1,
    ["l".repeat(2_000_000 * size)]: "x",
    b: 2,
  }),
  "a long key above": (size) => ({
    ["k".repeat(900_000 * size)]: { t: "x".repeat(900_000 * size) },
  }),
  "small texts": (size) => ({ l: Array(200_000 * size).fill("a small text") }),
  "texts of the least length": (size) => ({ l: Array(1000 * size).fill("x".repeat(4090)) }),
  "texts above the least length": (size) =>
    manyOf(1900 * size, (i) => [`${i}.${"k".repeat(250)}`, "x".repeat(4200)]),
  "small objects": (size) => ({
    l: Array.from({ length: 100_000 * size }, (_, i) => ({ i, t: ["x"] })),
  }),
  "arrays of arrays": (size) => ({ l: Array(300 * size).fill(Array(2000).fill(1)) }),
  "empty arrays": (size) => ({ l: Array(390_000 * size).fill([]) }),
  "many numbers": (size) => ({ n: Array(340_000 * size).fill(1) }),
  "objects of a key": (size) => ({ l: Array(30_000 * size).fill({ a: 1 }), m: "x" }),
  "many lists": (size) => ({ l: Array(2000 * size).fill(Array(60).fill(1)) }),
  "objects below keys": (size) => manyOf(300 * size, (i) => [i, { l: Array(2000).fill("x") }]),
  "a sender's logloom_cut": (size) => ({
    logloom_cut: { ["x".repeat(300)]: "y".repeat(2_000_000 * size) },
  }),
  "a sender's long logloom_cut": (size) => ({
    msg: "x".repeat(2_000_000 * size),
    logloom_cut: Array(200_000 * size).fill(1),
  }),
  "attrs beside": (size) => ({
    attrs: { a: "x".repeat(2_000_000 * size) },
    b: Array(400_000 * size).fill(true),
  }),
};

function manyOf(length: number, member: (index: number) => [PropertyKey, unknown]): object {
  return Object.fromEntries(Array.from({ length }, (_, index) => member(index)));
}

Deno.test("whatever makes a record long, it is cut to fit, says so, and can be stored", () => {
  for (const [name, shape] of Object.entries(shapes)) {
    const limits = [
      [1 / 10, 65_536, 4096],
      ...cutToMaxBytes.has(name) ? [[1, maxBytes, 80_000]] : [],
    ];
    for (const [size, limit, maxValues] of limits) {
      const { record, count, bytes } = stored(shape(size), limit, maxValues);
      assert.equal(count, 1, name);
      assert.ok(bytes <= limit, `${name}: ${bytes} of ${limit}`);
      assert.ok(valuesOf(record.attrs) <= maxValues, name);
      const { logloom_cut } = record.attrs as { logloom_cut: Record<string, number> };
      assert.ok(Object.keys(logloom_cut).length > 0, name);
      assert.ok(jsonbLength(logloom_cut) <= limit / 16, name);
      for (const [path, length] of Object.entries(logloom_cut)) {
        assert.ok(path.length <= 201 && path.isWellFormed(), name);
        assert.ok(Number.isSafeInteger(length) && length > 0, name);
      }
    }
  }
});

Deno.test("a cut value is a beginning of the original, for any event", () => {
  const event = fc.dictionary(
    fc.oneof(fc.constantFrom("msg", "host", "a", "logloom_cut"), fc.string({ unit: "binary" })),
    fc.oneof(
      fc.string({ unit: "binary", minLength: 10, maxLength: 100 }).map((text) => text.repeat(600)),
      fc.array(fc.jsonValue({ maxDepth: 2 }), { maxLength: 9 })
        .map((list) => Array(1000).fill(list)),
      fc.jsonValue(),
    ),
  );
  fc.assert(
    fc.property(event, (sent) => {
      const wellFormed = JSON.parse(
        JSON.stringify(sent).replace(/\\u0000/g, "\ufffd").toWellFormed(),
      );
      const { record, count, bytes } = stored(wellFormed, 65_536, 4096);
      assert.ok(valuesOf(record.attrs ?? null) <= 4096);
      if (count === undefined) return;
      assert.equal(count, 1);
      assert.ok(bytes <= 65_536, String(bytes));
      assert.ok(Object.hasOwn(record.attrs as object, "logloom_cut"));
    }),
    { numRuns: 40 },
  );
});

Deno.test("only the records that are too long are cut and counted", () => {
  const long = { msg: "m".repeat(1_100_000) };
  const { batch } = cut([{ msg: "a" }, long, { a: 1 }, long]);
  assert.equal(batch.p_cut, 2);
  assert.deepEqual(batch.p_msg?.map((msg) => msg?.[0]), ["a", "m", undefined, "m"]);
  assert.deepEqual(batch.p_attrs, [
    null,
    { logloom_cut: { msg: 1_100_000 } },
    { a: 1 },
    { logloom_cut: { msg: 1_100_000 } },
  ]);
});

Deno.test("a cut record has room for a guessed time that becomes an attribute again", () => {
  const date = "2005-03-01T10:00:00.123456789+01:00";
  for (let letters = 950; letters < 1150; letters++) {
    const { batch } = cut([{ date, msg: "m".repeat(letters) }], 1200, 200);
    const attrs = { ...batch.p_attrs?.[0], ...batch.p_guessed?.[1] };
    const sent = batchJson({ ...batch, p_guessed: undefined, p_attrs: [attrs] }, {});
    assert.ok(bytesOf(sent) <= 1200, `${letters}`);
  }
});

Deno.test("events that share data with a cut event keep it whole", () => {
  const shared = { text: "r".repeat(30_000), list: ["r".repeat(25_000)] };
  const sent = structuredClone(shared);
  const events = new EventCollector(3);
  for (const msg of ["a", "m".repeat(3_000_000), "c"]) events.add({ msg, resource: shared });
  const { p_attrs, p_cut } = cutRecords(events.batch(), 65_536, 80_000);
  assert.equal(p_cut, 1);
  assert.deepEqual([p_attrs?.[0], p_attrs?.[2]], [{ resource: sent }, { resource: sent }]);
  assert.deepEqual(p_attrs?.[1]?.logloom_cut, {
    msg: 3_000_000,
    "attrs.resource.text": 30_000,
    "attrs.resource.list.0": 25_000,
  });
});
