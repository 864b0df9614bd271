import assert from "node:assert/strict";
import fc from "fast-check";
import { parquetMetadata } from "hyparquet";
import { at, type Columns, difference, recordsJson, sorted, textColumns } from "./columns.ts";
import { decodeFile, encodeFile } from "./parquet.ts";

const label = {
  tenant_id: "acme",
  part_id: "3f0d8f3e-6f0b-4c39-9a5f-5d2b4d1d9f10",
  first_day: "2026-11-21",
  last_day: "2026-11-21",
  generation: 1,
};

const text = fc.option(fc.string({ unit: "grapheme", maxLength: 30 }), { freq: 4 });

/** Numbers of up to 38 digits, 9 after the point, as the database prints them. */
const decimal = fc.tuple(
  fc.bigInt({ min: -(10n ** 29n) + 1n, max: 10n ** 29n - 1n }),
  fc.integer({ min: 0, max: 999_999_999 }),
).map(([whole, rest]) => {
  const fraction = String(rest).padStart(9, "0").replace(/0+$/, "");
  return fraction === "" ? `${whole}` : `${whole}.${fraction}`;
});

const columns = fc.integer({ min: 1, max: 60 }).chain((count) => {
  const list = <T>(value: fc.Arbitrary<T>) =>
    fc.array(value, { minLength: count, maxLength: count });
  const micros = fc.integer({ min: 0, max: 253_402_300_799_999_999 / 128 });
  const optional = <T>(value: fc.Arbitrary<T>) => list(fc.option(value, { freq: 3 }));
  return fc.record({
    id: fc.uniqueArray(fc.uuid(), { minLength: count, maxLength: count }),
    ts: list(micros),
    received_at: list(micros),
    rest: list(fc.constantFrom(null, "{}", '{"a": 1.50}')),
    attrs: fc.tuple(
      optional(fc.string()),
      optional(fc.integer({ min: -(10 ** 15) + 1, max: 10 ** 15 - 1 })),
      optional(fc.integer({ min: -(10 ** 9), max: 10 ** 9 }).map((n) => n / 64)),
      optional(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String)),
      optional(decimal),
      optional(fc.boolean()),
      optional(fc.constantFrom('"a"', "1e400", "null", "[1, 2]")),
    ).map(([string, integer, number, long, exact, boolean, json]) =>
      Object.entries({ string, integer, number, long, exact, boolean, json }).map((
        [key, values],
      ) => ({ key: `${key}.key`, kind: key === "long" ? "exact" : key, values }))
    ),
    ...Object.fromEntries(textColumns.map((name) => [name, list(text)])),
  }) as unknown as fc.Arbitrary<Columns>;
});

Deno.test("a file is read back as it was written, to the last digit", async () => {
  await fc.assert(
    fc.asyncProperty(columns, async (given) => {
      const records = sorted(given);
      assert.equal(difference(records, await decodeFile(encodeFile(records, label))), undefined);
    }),
    { numRuns: 100 },
  );
});

const few: Columns = {
  id: ["00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"],
  ts: [1_763_683_200_000_001, 1_763_683_200_999_999],
  received_at: [1_763_683_201_000_000, 1_763_683_201_000_000],
  level: ["info", null],
  service: ["web", "api"],
  env: [null, null],
  host: [null, null],
  route: [null, null],
  req_id: [null, null],
  user_id: [null, null],
  msg: ['"quoted"', null],
  attrs: [
    { key: "status", kind: "integer", values: [200, null] },
    { key: "odd", kind: "json", values: ["1.50", '"x"'] },
    { key: "wei", kind: "exact", values: ["-0.5", "12345678901234567890"] },
  ],
  rest: ['{"k": [1.0]}', "{}"],
};

Deno.test("records for the database keep the digits of their numbers", () => {
  assert.equal(
    recordsJson(few),
    '[{"id":"00000000-0000-4000-8000-000000000001","ts":"2025-11-21T00:00:00.000001Z",' +
      '"received_at":"2025-11-21T00:00:01.000000Z","level":"info","service":"web",' +
      '"msg":"\\"quoted\\"","attrs":{"k": [1.0],"status":200,"odd":1.50,"wei":-0.5}},' +
      '{"id":"00000000-0000-4000-8000-000000000002","ts":"2025-11-21T00:00:00.999999Z",' +
      '"received_at":"2025-11-21T00:00:01.000000Z","service":"api",' +
      '"attrs":{"odd":"x","wei":12345678901234567890}}]',
  );
});

Deno.test("digits that a double cannot hold are stored as INT64 or DECIMAL", async () => {
  const values = {
    id: ["9223372036854775807", null],
    over: ["9223372036854775808", "0"],
    few: ["0.25", "7"],
  };
  const attrs = Object.entries(values).map(([key, values]) => ({
    key,
    kind: "exact" as const,
    values,
  }));
  const bytes = encodeFile({ ...few, attrs }, label);
  const { schema } = parquetMetadata(bytes.slice().buffer as ArrayBuffer);
  assert.deepEqual(
    schema.filter(({ name }) => name.startsWith("attrs.")).map((
      column,
    ) => [column.name, column.type, column.precision, column.scale]),
    [
      ["attrs.id", "INT64", undefined, undefined],
      ["attrs.over", "FIXED_LEN_BYTE_ARRAY", 38, 0],
      ["attrs.few", "FIXED_LEN_BYTE_ARRAY", 38, 2],
    ],
  );
  assert.deepEqual((await decodeFile(bytes)).attrs, attrs);
});

Deno.test("a file has its tenant, day and range of times", () => {
  const bytes = encodeFile(sorted(few), label);
  const { key_value_metadata: notes, row_groups: groups } = parquetMetadata(
    bytes.slice().buffer as ArrayBuffer,
  );
  assert.deepEqual(
    Object.fromEntries((notes ?? []).map(({ key, value }) => [key, value])),
    {
      "logloom.format": "1",
      "logloom.label": JSON.stringify(label),
      "logloom.attrs": '[["status","integer"],["odd","json"],["wei","exact"]]',
    },
  );
  assert.equal(groups.length, 1);
  const { statistics } = groups[0].columns[1].meta_data ?? {};
  assert.deepEqual(
    [statistics?.min_value, statistics?.max_value].map((value) =>
      value instanceof Date ? value.toISOString() : value
    ),
    ["2025-11-21T00:00:00.000Z", "2025-11-21T00:00:00.999Z"],
  );
});

Deno.test("a difference of one value is found", () => {
  assert.equal(difference(few, at(few, [0, 1])), undefined);
  assert.equal(difference(few, { ...few, ts: [few.ts[0] + 1, few.ts[1]] }), "ts");
  assert.equal(difference(few, { ...few, rest: ['{"k": [1]}', "{}"] }), "rest");
  assert.equal(difference(few, at(few, [0])), "level");
});
