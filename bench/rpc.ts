import { parseArgs } from "node:util";
import { userToken } from "../local/keys.ts";
import { load } from "./support/load.ts";
import { type Actor, mixedLoad, tenantName } from "./support/mixed.ts";
import { type Figure, percentile, printFigures, ratio, thousands } from "./support/report.ts";
import { type BenchStack, startBenchStack } from "./support/stack.ts";

/** The number of requests under way. */
const inFlight = 20;

/** The limit for 95 of 100 answers of a list or get operation, in milliseconds. */
const p95Limit = 25;

/** How much slower than the floor, an operation that only selects 1, they may be. */
const floorLimit = 2;

/**
 * The speed of the operations compared with a floor, and all of them at once by many tenants.
 *
 * Options: --seconds N for each operation (default 5), --mixed N (default 60).
 */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      seconds: { type: "string", default: "5" },
      mixed: { type: "string", default: "60" },
    },
  });
  const bench = await startBenchStack();
  try {
    await measure(bench, Number(values.seconds), Number(values.mixed));
  } finally {
    await bench.stop();
  }
}

interface Timing {
  p50: number;
  p95: number;
  perSecond: number;
}

async function measure(bench: BenchStack, seconds: number, mixedSeconds: number): Promise<void> {
  const tenants = Array.from({ length: 10 }, tenantName);
  const actors = Array.from({ length: 50 }, (_, i): Actor => {
    const tenantId = tenants[i % tenants.length];
    return { tenantId, token: userToken(userId(i), tenantId) };
  });

  step("Making objects and the floor");
  await makeObjects(bench, tenants);
  await makeFloor(bench, actors[0]);
  const calls = await readingCalls(bench, tenants[0]);

  const send = (operation: string, parameters: Record<string, unknown>) => {
    // Objects are read by a user of their tenant; lists by all users.
    const callers = Object.keys(parameters).length > 0 ? actors.slice(0, 1) : actors;
    const body = JSON.stringify(parameters);
    return (n: number) => post(bench, callers[n % callers.length], operation, body);
  };
  const floorSend = send("select_one", {});
  step("Warming up");
  for (const call of calls) await load({ connections: inFlight, seconds: 1 }, send(...call));

  const figures: Figure[] = [];
  for (const call of calls) {
    step(call[0]);
    const [floor, timing] = await compare([floorSend, send(...call)], seconds);
    figures.push({
      name: call[0],
      value: `p50 ${timing.p50.toFixed(1)}, p95 ${timing.p95.toFixed(1)} ms, ` +
        `${thousands(timing.perSecond)}/s; floor ${floor.p95.toFixed(1)} ms, ` +
        `${thousands(floor.perSecond)}/s; ${ratio(timing.p95, floor.p95)} × floor`,
      limit: `≤ ${p95Limit} ms, ≤ ${floorLimit} × floor`,
      holds: timing.p95 <= p95Limit && timing.p95 <= floorLimit * floor.p95,
    });
  }

  step(`50 users of 10 tenants, all operations, ${mixedSeconds} s`);
  const mixed = await mixedLoad(bench.state.url, actors, mixedSeconds);

  const failures = [...mixed.statuses].filter(([status]) => status >= 500)
    .reduce((sum, [, count]) => sum + count, 0);
  figures.push(
    {
      name: "mixed: requests",
      value: `${thousands(mixed.requests)} in ${mixed.seconds.toFixed(0)} s, ` +
        `p95 ${percentile(mixed.latencies, 0.95).toFixed(1)} ms`,
    },
    { name: "mixed: 5xx", value: `${failures}`, limit: "0", holds: failures === 0 },
    {
      name: "mixed: other answers than expected",
      value: `${mixed.unexpected.length}`,
      limit: "0",
      holds: mixed.unexpected.length === 0,
    },
    {
      name: "mixed: reads of another tenant",
      value: `${mixed.leaks.length}`,
      limit: "0",
      holds: mixed.leaks.length === 0,
    },
  );
  printFigures(`Operations, ${inFlight} requests in flight`, figures);
  for (const told of [...mixed.unexpected, ...mixed.leaks].slice(0, 5)) console.log(told);
}

/** Times requests in turns, so that other work on the machine affects all of them alike. */
async function compare(
  requests: ((n: number) => Promise<Response>)[],
  seconds: number,
): Promise<Timing[]> {
  const turn = 0.5;
  const results = requests.map(() => ({ latencies: [] as number[], seconds: 0 }));
  for (let turns = 0; turns * turn < seconds; turns++) {
    for (const [i, request] of requests.entries()) {
      const result = await load({ connections: inFlight, seconds: turn }, request);
      for (const latency of result.latencies) results[i].latencies.push(latency);
      results[i].seconds += result.seconds;
    }
  }
  return results.map(({ latencies, seconds }) => ({
    p50: percentile(latencies, 0.5),
    p95: percentile(latencies, 0.95),
    perSecond: latencies.length / seconds,
  }));
}

function post(
  { state }: BenchStack,
  { token }: Actor,
  operation: string,
  body: string,
): Promise<Response> {
  return fetch(`${state.url}/rest/v1/rpc/${operation}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body,
  });
}

function userId(n: number): string {
  return `00000000-0000-4000-8000-${n.toString().padStart(12, "0")}`;
}

/** The maximum of a tenant on the plan pro, and a year's history. */
async function makeObjects({ sql }: BenchStack, tenants: string[]): Promise<void> {
  await sql`insert into logloom.tenants (tenant_id, plan_id) select unnest(${tenants}::text[]), 'pro'`;
  await sql`
    insert into logloom.saved_searches (
      tenant_id, created_by, name, query_dsl, category, is_shared, created_at
    )
    select t, ${userId(0)}, t || ' ' || i, 'level:error service:api', 'category ' || i % 5, true,
      now() - make_interval(mins => i)
    from unnest(${tenants}::text[]) t, generate_series(1, 25) i`;
  await sql`
    insert into logloom.alert_rules (
      tenant_id, name, query_dsl, threshold, comparison, window_minutes, cooldown_minutes, enabled,
      created_at
    )
    select t, t || ' ' || i, 'level:error | rate()', 5, 'gt', 5, 30, false,
      now() - make_interval(mins => i)
    from unnest(${tenants}::text[]) t, generate_series(1, 25) i`;
  await sql`
    insert into logloom.alert_history (tenant_id, rule_id, triggered_at, value, threshold)
    select r.tenant_id, r.rule_id, now() - make_interval(hours => i), 6, 5
    from logloom.alert_rules r, generate_series(1, 365) i`;
  await sql`
    insert into logloom.api_keys (tenant_id, name, key_prefix, key_digest)
    select t, t || ' ' || i, 'll_' || left(md5(t || i), 8), sha256((t || i)::bytea)
    from unnest(${tenants}::text[]) t, generate_series(1, 10) i`;
  await sql`analyze`;
}

/** The minimum of an operation: PostgREST, the pre-request check, a PL/pgSQL function. */
async function makeFloor(bench: BenchStack, actor: Actor): Promise<void> {
  await bench.sql.unsafe(`
    create or replace function public.select_one()
    returns integer
    language plpgsql
    stable
    set search_path = pg_catalog, pg_temp
    as $$ begin return 1; end; $$;
    grant execute on function public.select_one() to authenticated;
    notify pgrst, 'reload schema';
  `);
  for (let tries = 0; tries < 200; tries++) {
    const response = await post(bench, actor, "select_one", "{}");
    await response.body?.cancel();
    if (response.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("PostgREST does not see select_one");
}

async function readingCalls(
  { sql }: BenchStack,
  tenant: string,
): Promise<[string, Record<string, unknown>][]> {
  const [ids] = await sql`
    select
      (select id from logloom.saved_searches where tenant_id = ${tenant} limit 1) as search,
      (select rule_id from logloom.alert_rules where tenant_id = ${tenant} limit 1) as rule,
      (select key_id from logloom.api_keys where tenant_id = ${tenant} limit 1) as key`;
  return [
    ["get_current_tenant", {}],
    ["get_tenant_settings", {}],
    ["list_api_keys", {}],
    ["get_api_key_usage", { p_key_id: ids.key }],
    ["list_saved_searches", {}],
    ["get_saved_search", { p_id: ids.search }],
    ["get_saved_search_count", {}],
    ["get_saved_search_categories", {}],
    ["list_alert_rules", {}],
    ["get_alert_rule", { p_rule_id: ids.rule }],
    ["list_alert_history", {}],
  ];
}

function step(title: string): void {
  console.error(`  ${title} …`);
}
