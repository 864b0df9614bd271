import assert from "node:assert/strict";
import fc from "fast-check";
import { openDatabase } from "../support/database.ts";
import { mangled, query } from "./random_queries.ts";
import { extract } from "./stages.ts";

const seed = Number(Deno.env.get("QUERY_SEED") ?? Math.floor(Math.random() * 2 ** 31));

/** Valid and damaged queries, and fragments that are expensive to compile. */
const parts = fc.oneof(
  query,
  mangled,
  fc.constantFrom("(", "NOT ", "-", '"', "any:", "@a.b:", "msg:~", '"(?i)[', "]{1,50}", "|", "(a|"),
  fc.constantFrom("[[:alpha:]]", "\u0080-\u{1EFFF}", "\u00c0-\u024f", "| where ", "by ", "now"),
  fc.string({ unit: "binary", maxLength: 20 }),
);

/** Repeats parts up to 2,048 bytes. */
const hostile = fc.array(parts, { minLength: 1, maxLength: 8 }).map((some) => {
  const text = some.join(" ").replaceAll("\0", "") || "a";
  let filled = text;
  while (new TextEncoder().encode(filled + text).length <= 2048) filled += text;
  return filled;
});

Deno.test(`compiling any query takes at most 20,000 steps, seed ${seed}`, async () => {
  await using sql = openDatabase(undefined, 1);
  await sql`
    create function pg_temp.steps(p_query text) returns integer language plpgsql as $$
    begin
      return (logloom_private.compile_query(p_query)).steps;
    exception when sqlstate 'PT400' then
      return null;
    end $$`;
  const queries = fc.sample(hostile, { numRuns: 400, seed });
  const rows = await sql`
    select pg_temp.steps(q) as steps from unnest(${queries}::text[]) q`;
  assert.equal(rows.length, queries.length);
  const most = Math.max(...rows.map(({ steps }) => steps ?? 0));
  assert.ok(most > 0 && most <= 20_000, `${most} steps`);
});

/** Returns the text of a JSON object with a value this many levels deep; the object is the first level. */
function nested(depth: number, value: string, open = "[", close = "]"): string {
  return `{"a":${open.repeat(depth - 1)}${value}${close.repeat(depth - 1)}}`;
}

Deno.test("extracting json from any message takes time linear in its length", async () => {
  await using sql = openDatabase(undefined, 1);
  await sql`set statement_timeout = '5s'`;
  const texts = [
    ...[63, 64, 65, 500, 2000, 30_000].flatMap((depth) =>
      ["1", "1.0"].map((value) => nested(depth, value))
    ),
    nested(64, '{"]":"}"}', '[0,{"x":', "},2.50]").slice(0, 60_000),
    nested(33, "2.50", '{"[":[', "]}"),
    nested(32, "2.50", '{"[":[', "]}"),
    `{"a":${"[".repeat(30_000)}`,
    `{"a":"${"[".repeat(30_000)}","b":"\\"}`,
    `{"a":"${'\\"['.repeat(10_000)}"}`,
    `{"a":${'"['.repeat(20_000)}`,
    `{"a":[${"[],{},".repeat(9_000)}1.50]}`,
    `{"a":[${"1e39,-5E-3,".repeat(5_000)}1.50]}`,
    `{"a":"1.0 -2.50 \\" 1e400 ]","-1.0":{"b":-0.50,"c":null,"d":false}}`,
  ];
  for (const text of texts) {
    const [{ found }] = await sql`select logloom_private.extract_json(${text}) as found`;
    assert.deepEqual(found, extract("json", text), text.slice(0, 200));
  }
  // A number beyond doubles stays a text with an exponent.
  const [{ found }] = await sql`
    select logloom_private.extract_json(${`{"a":[${"1e131000,".repeat(6_800)}0]}`}) as found`;
  assert.deepEqual(found.a.slice(-2), ["1e+131000", 0]);
});
