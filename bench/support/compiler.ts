import type postgres from "postgres";
import { type Figure, percentile } from "./report.ts";

const longest = 2048;
const runs = 60;
const mostMs = 5;

/** The most expensive queries that the compiler accepts, by their parts. */
const queries: [string, string][] = [
  ["a text", "a".repeat(512)],
  ["wildcards", "a*".repeat(256)],
  ["escapes", "\\*".repeat(256)],
  ["64 terms", "service:abcdefg* ".repeat(64)],
  ["64 ranges", "attrs.a.bcdef:[1 TO 10000]  ".repeat(64)],
  ["64 negations", "-(attrs.a:1 OR b) ".repeat(32)],
  ["64 times", "ts:>2026-11-21T10:00:00Z ".repeat(64)],
  ["regular expressions", `msg:~"${"(a|b)+".repeat(40)}" `.repeat(8)],
];

/** Measures in the database how many milliseconds it takes to compile 2,048 bytes. */
export async function measureCompiler(sql: postgres.Sql): Promise<Figure[]> {
  await sql`create schema if not exists bench`;
  await sql.unsafe(`
    create or replace function bench.compile_ms(p_query text)
    returns float8
    language plpgsql
    as $$
    declare
      v_start constant timestamptz := clock_timestamp();
    begin
      perform logloom_private.compile_query(p_query);
      return extract(epoch from clock_timestamp() - v_start) * 1000;
    end;
    $$`);
  const figures: Figure[] = [];
  for (const [name, text] of queries) {
    const query = text.slice(0, longest).padEnd(longest);
    const times: number[] = [];
    for (let n = -5; n < runs; n++) {
      const [{ ms }] = await sql<{ ms: number }[]>`select bench.compile_ms(${query}) as ms`;
      if (n >= 0) times.push(ms);
    }
    const median = percentile(times, 0.5);
    figures.push({
      name,
      value: `p50 ${median.toFixed(1)}, p95 ${percentile(times, 0.95).toFixed(1)} ms`,
      limit: `p50 ≤ ${mostMs} ms`,
      holds: median <= mostMs,
    });
  }
  return figures;
}
