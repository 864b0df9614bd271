import { Failure } from "../../local/failure.ts";
import { userToken } from "../../local/keys.ts";
import { type Load, load, pace } from "./load.ts";
import { type Figure, percentile } from "./report.ts";
import type { BenchStack } from "./stack.ts";

/** How often each kind of noise runs. */
const turns = 4;

interface QuietLoads {
  sent: Load[];
  searched: Load[];
}

/** Requests that the noisy tenant has in flight. */
const inFlight = 20;

const slow = 'msg:~"(a+b?)+c" OR msg:~"(a?b?)*d$"';
const folded = `msg:~"(?i)[${"\u0080-\u{1EFFF}".repeat(80)}]"`;
const preview = { p_threshold: 1, p_comparison: "gt", p_window_minutes: 60 };

/** The repeated requests of the noisy tenant, by the resource that they try to exhaust. */
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
 * A quiet tenant's ingest and search beside 20 requests in flight of each kind, compared with the same beside as many
 * cheap requests a second.
 */
export async function noiseFigures(
  { state, sql }: BenchStack,
  quietKey: string,
  body: Uint8Array,
  seconds: number,
  chosen: string[] = [...Object.keys(kinds), "alert rules"],
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

  /** Quiet work beside the noisy tenant's, whose pace `pause` sets. */
  const beside = async (operation: string, parameters: unknown, pause?: () => Promise<void>) => {
    const statuses = new Map<number, number>();
    let isOver = false;
    const noise = Promise.all(Array.from({ length: inFlight }, async () => {
      for (;;) {
        await pause?.();
        if (isOver) break;
        const response = await rpc(noisy, operation, parameters);
        await response.body?.cancel();
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      }
    }));
    const quietLoads = await quietly();
    isOver = true;
    const asked = [...statuses.values()].reduce((sum, count) => sum + count, 0);
    await noise;
    return { ...quietLoads, statuses, perSecond: asked / seconds };
  };

  const figures: Figure[] = [];
  for (const [kind, [operation, parameters]] of Object.entries(kinds)) {
    if (!chosen.includes(kind)) continue;
    console.error(`  Noise: ${kind}`);
    const statuses = new Map<number, number>();
    const [calm, loud]: QuietLoads[] = [{ sent: [], searched: [] }, { sent: [], searched: [] }];
    // In turns, so that other work on the machine affects both alike.
    for (let turn = 0; turn < turns; turn++) {
      const noise = await beside(operation, parameters);
      loud.sent.push(noise.sent);
      loud.searched.push(noise.searched);
      for (const [status, count] of noise.statuses) {
        statuses.set(status, (statuses.get(status) ?? 0) + count);
      }
      // As many cheap requests, so that sending and refusing them is on both sides.
      const cheap = await beside("get_current_tenant", {}, pace(Math.max(1, noise.perSecond)));
      calm.sent.push(cheap.sent);
      calm.searched.push(cheap.searched);
    }
    const told = [...statuses].map(([status, count]) => `${count} × ${status}`).join(", ");
    const failed = [...loud.sent, ...loud.searched]
      .flatMap(({ failures }) => [...failures]).filter(([status]) => status >= 500);
    for (
      const [what, before, beside] of [
        ["ingest", calm.sent, loud.sent],
        ["search", calm.searched, loud.searched],
      ] as const
    ) {
      const [base, p95] = [before, beside].map((loads) =>
        percentile(loads.flatMap(({ latencies }) => latencies), 0.95)
      );
      figures.push({
        name: `${kind}: ${what}, p95 ms beside as many cheap requests, and beside these`,
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
  if (!chosen.includes("alert rules")) return figures;
  figures.push(
    ...await alertFigures(
      sql,
      (bearer) => (operation, parameters) => rpc(bearer, operation, parameters),
      quiet,
      noisy,
    ),
  );
  return figures;
}

/** Seconds of each phase: rounds are a minute apart. */
const alertSeconds = 130;
const noisyRules = 40;

/**
 * How late a quiet tenant's rules are evaluated, without and with many expensive rules of another tenant, with records
 * of both.
 */
async function alertFigures(
  sql: BenchStack["sql"],
  as: (bearer: string) => (operation: string, parameters: unknown) => Promise<Response>,
  quiet: string,
  noisy: string,
): Promise<Figure[]> {
  const makeRule = async (bearer: string, p_query_dsl: string) => {
    const response = await as(bearer)("create_alert_rule", {
      p_name: p_query_dsl.slice(0, 50),
      p_query_dsl,
      p_threshold: 1e9,
      p_comparison: "gt",
      p_window_minutes: 60,
      p_cooldown_minutes: 5,
      p_enabled: true,
    });
    if (response.status !== 200) throw new Failure(await response.text());
    await response.body?.cancel();
  };
  const lags = async () => {
    const seen: number[] = [];
    for (const end = performance.now() + alertSeconds * 1000; performance.now() < end;) {
      await new Promise((resolve) => setTimeout(resolve, 500));
      const [{ lag }] = await sql`
        select extract(epoch from clock_timestamp() - min(r.last_evaluated_at))::float8 as lag
        from logloom.alert_rules r where r.tenant_id = 'quiet'`;
      if (lag !== null) seen.push(lag);
    }
    return percentile(seen, 0.95);
  };
  console.error("  Noise: alert rules");
  for (const query of ["level:error", "service:*", "level:>=warn | rate()"]) {
    await makeRule(quiet, query);
  }
  const before = await lags();
  for (let n = 0; n < noisyRules; n++) await makeRule(noisy, `(${slow}) -host:h${n}`);
  const beside = await lags();
  const [{ failed }] = await sql`
    select count(*)::integer as failed from logloom.alert_rules r
    where r.tenant_id = 'quiet' and r.last_error is not null`;
  return [
    {
      name: `alert rules: lag, p95 s without and with ${noisyRules} costly rules`,
      value: `${before.toFixed(1)} → ${beside.toFixed(1)}`,
      limit: "≤ 1.5 ×",
      holds: beside <= 1.5 * before,
    },
    {
      name: "alert rules: the quiet tenant's with an error",
      value: `${failed}`,
      limit: "0",
      holds: failed === 0,
    },
  ];
}
