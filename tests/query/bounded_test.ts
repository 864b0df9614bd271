import assert from "node:assert/strict";
import fc from "fast-check";
import postgres from "postgres";
import { mangled, query } from "./arbitrary.ts";

const seed = Number(Deno.env.get("QUERY_SEED") ?? Math.floor(Math.random() * 2 ** 31));

/** What hostile queries are made of, besides right and wrong ones. */
const parts = fc.oneof(
  query,
  mangled,
  fc.constantFrom("(", "NOT ", "-", '"', "any:", "@a.b:", "msg:~", '"(?i)[', "]{1,50}", "|", "(a|"),
  fc.constantFrom("[[:alpha:]]", "\u0080-\u{1EFFF}", "\u00c0-\u024f", "| where ", "by ", "now"),
  fc.string({ unit: "binary", maxLength: 20 }),
);

/** Parts that are repeated until 2,048 bytes are full. */
const hostile = fc.array(parts, { minLength: 1, maxLength: 8 }).map((some) => {
  const text = some.join(" ").replaceAll("\0", "") || "a";
  let filled = text;
  while (new TextEncoder().encode(filled + text).length <= 2048) filled += text;
  return filled;
});

Deno.test(`whatever is asked, compiling takes 20,000 steps at most, seed ${seed}`, async () => {
  const sql = postgres(Deno.env.get("LOGLOOM_DB_URL") ?? "", { max: 1, onnotice: () => {} });
  try {
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
  } finally {
    await sql.end();
  }
});
