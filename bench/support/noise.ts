import { userToken } from "../../local/keys.ts";
import { load, pace } from "./load.ts";
import { type Figure, percentile } from "./report.ts";
import type { BenchStack } from "./stack.ts";

/** Requests that the noisy tenant has in flight at once. */
const inFlight = 20;

const slow = 'msg:~"(a+b?)+c" OR msg:~"(a?b?)*d$"';
const folded = `msg:~"(?i)[${"\u0080-\u{1EFFF}".repeat(80)}]"`;
const preview = { p_threshold: 1, p_comparison: "gt", p_window_minutes: 60 };

/** What the noisy tenant asks again and again, by what it hopes to exhaust. */
const kinds: Record<string, [string, Record<string, unknown>]> = {
  "slow searches": ["search_logs", { p_query_dsl: slow, p_ts_from: "now-7d" }],
  "slow statistics": ["log_stats", {
    p_query_dsl: `${slow} | count() by msg`,
    p_ts_from: "now-7d",
  }],
  "slow histograms": ["log_histogram", { p_query_dsl: slow, p_ts_from: "now-7d" }],
  fields: ["list_log_fields", { p_ts_from: "now-7d" }],
  tails: ["tail_logs", { p_query_dsl: slow, p_backlog: 1000 }],
  previews: ["preview_alert_rule", { p_query_dsl: slow, ...preview }],
  "queries that are hard to compile": ["validate_query", { p_query_dsl: folded }],
};

/**
 * How a quiet tenant's ingest and search fare beside 20 requests in flight of each kind, against the
 * same without noise, in turns.
 */
export async function noiseFigures(
  { state, sql }: BenchStack,
  quietKey: string,
  body: Uint8Array,
  seconds: number,
): Promise<Figure[]> {
  const [quiet, noisy] = ["quiet", "noisy"].map((tenant) => userToken(crypto.randomUUID(), tenant));
  const rpc = (bearer: string, operation: string, parameters: unknown) =>
    fetch(`${state.url}/rest/v1/rpc/${operation}`, {
      method: "POST",
      headers: { authorization: `Bearer ${bearer}`, "content-type": "application/json" },
      body: JSON.stringify(parameters),
    });
  const ingest = () =>
    fetch(`${state.url}/functions/v1/ingest`, {
      method: "POST",
      headers: { "x-api-key": quietKey, "content-type": "application/json" },
      body: body as BodyInit,
    });
  const searching = () => rpc(quiet, "search_logs", { p_query_dsl: "level:error" });
  const quietly = async () => {
    const [sent, searched] = await Promise.all([
      load({ connections: 2, seconds, pause: pace(20) }, ingest),
      load({ connections: 1, seconds, pause: pace(10) }, searching),
    ]);
    return { sent, searched };
  };

  const figures: Figure[] = [];
  for (const [kind, [operation, parameters]] of Object.entries(kinds)) {
    console.error(`  Noise: ${kind}`);
    const calm = await quietly();
    const statuses = new Map<number, number>();
    let isOver = false;
    const noise = Promise.all(Array.from({ length: inFlight }, async () => {
      while (!isOver) {
        const response = await rpc(noisy, operation, parameters);
        await response.body?.cancel();
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      }
    }));
    const loud = await quietly();
    isOver = true;
    await noise;
    const told = [...statuses].map(([status, count]) => `${count} × ${status}`).join(", ");
    const failed = [loud.sent, loud.searched]
      .flatMap(({ failures }) => [...failures]).filter(([status]) => status >= 500);
    for (
      const [what, before, beside] of [
        ["ingest", calm.sent, loud.sent],
        ["search", calm.searched, loud.searched],
      ] as const
    ) {
      const [base, p95] = [before, beside].map(({ latencies }) => percentile(latencies, 0.95));
      figures.push({
        name: `${kind}: ${what}, p95 ms without and with`,
        value: `${base.toFixed(1)} → ${p95.toFixed(1)}`,
        limit: "≤ 3 ×",
        holds: p95 <= 3 * base,
      });
    }
    figures.push({
      name: `${kind}: 5xx to the quiet tenant (noisy: ${told})`,
      value: `${failed.reduce((sum, [, count]) => sum + count, 0)}`,
      limit: "0",
      holds: failed.length === 0,
    });
  }
  const [round] = await sql`
    select extract(epoch from now() - window_end)::float8 as age from logloom_private.alert_rounds`;
  if (round) figures.push({ name: "age of the last alert round (s)", value: round.age.toFixed(0) });
  return figures;
}
