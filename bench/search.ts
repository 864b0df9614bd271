import { parseArgs } from "node:util";
import type postgres from "postgres";
import { userToken } from "../local/signing_keys.ts";
import { measureCompiler } from "./support/compiler.ts";
import { type Event, loadEvents } from "./support/events.ts";
import { type Figure, percentile, printFigures, ratio, thousands } from "./support/report.ts";
import { casesOf, parametersOf, questionsOf } from "./support/search_questions.ts";
import { seal, vacuumSealed } from "./support/sealed_days.ts";
import { type BenchStack, startBenchStack, step } from "./support/stack.ts";

const runs = 30;
const tenant = "bench";
const otherTenants = 100;
const member = "11111111-1111-4111-8111-111111111111";
const viewer = "22222222-2222-4222-8222-222222222222";

/**
 * Measures the operations that read logs, with records of one tenant beside a hundred others; and how much slower they
 * are for a viewer with a hidden attribute and a hidden path.
 *
 * Options: --events FILE (NDJSON or .gz; default: generated events), --days N (default 10), --scale N (records of the
 * tenant in a day, default 1000000; the others have a tenth of it).
 */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      events: { type: "string" },
      days: { type: "string", default: "10" },
      scale: { type: "string", default: "1000000" },
    },
  });
  const events = (await loadEvents(values.events)).map((event, n) => ({
    ...event,
    attrs: {
      ...event.attrs as Event | undefined,
      client: { address: `10.1.${n % 40}.${n % 256}`, port: 1024 + n },
    },
  }));
  await using bench = await startBenchStack();
  // This benchmark measures rows, so days are not sealed.
  await bench.sql`update logloom_private.settings set seal_after = '1000 days' where singleton`;
  step("Making records");
  await bench.sql`
    insert into logloom.tenants (tenant_id, plan_id) values (${tenant}, 'enterprise')`;
  await fill(bench.sql, events, Number(values.days), Number(values.scale));
  await measure(bench, Number(values.days));
}

/** Inserts records up to now like the writer: day by day, in steps of 20,000 sorted by tenant and time. */
export async function fill(
  sql: postgres.Sql,
  events: Event[],
  days: number,
  perDay: number,
): Promise<void> {
  await sql`create schema if not exists bench`;
  await sql`create table if not exists bench.events (n serial primary key, event jsonb)`;
  await sql`truncate bench.events restart identity`;
  for (let at = 0; at < events.length; at += 5000) {
    const chunk = JSON.stringify(events.slice(at, at + 5000));
    await sql`insert into bench.events (event)
      select e from jsonb_array_elements(${chunk}::text::jsonb) e`;
  }
  const [{ now }] = await sql<{ now: Date }[]>`select date_trunc('milliseconds', now()) as now`;
  for (let ago = days; ago >= 0; ago--) {
    await sql`select logloom_private.create_partition(
      logloom_private.utc_day(${now} - make_interval(days => ${ago})))`;
  }
  for (let ago = days; ago > 0; ago--) {
    step(`day ${days - ago + 1} of ${days}`);
    await sql`
      insert into logloom.logs (
        id, tenant_id, ts, received_at, write_seq,
        level, msg, service, env, req_id, user_id, route, host, attrs, record_bytes
      )
      select
        (lpad(to_hex((extract(epoch from r.ts) * 1000)::bigint), 12, '0') || '7'
          || substr(r.random, 1, 3) || '8' || substr(r.random, 4, 15))::uuid,
        r.tenant_id, r.ts, r.ts + interval '1 second',
        ${(days - ago) * Math.ceil(perDay / 20_000)}::bigint + r.n / 20000,
        e.event ->> 'level', e.event ->> 'msg', e.event ->> 'service', e.event ->> 'env',
        e.event ->> 'req_id', e.event ->> 'user_id', e.event ->> 'route', e.event ->> 'host',
        e.event -> 'attrs', 200 + octet_length(e.event::text)
      from (
        select
          g.n,
          case when g.n % 11 < 10 then ${tenant} else 'other-' || g.n / 11 % ${otherTenants} end
            as tenant_id,
          ${now}::timestamptz - make_interval(days => ${ago})
            + g.n * (interval '1 day' / ${perDay * 1.1}::float8) as ts,
          md5(${ago}::text || g.n) as random,
          1 + (g.n * 7919::bigint) % ${events.length}::bigint as event
        from generate_series(0, ${Math.floor(perDay * 1.1) - 1}::integer) g (n)
      ) r
      join bench.events e on e.n = r.event
      order by r.n / 20000, r.tenant_id, r.ts`;
  }
  await sql`
    update logloom.logs l
    set req_id = 'bench-request', msg = 'quarterly report of the ' || l.req_id
    where l.id in (
      select s.id from logloom.logs s
      where s.tenant_id = ${tenant} and s.req_id is not null
      order by s.ts desc limit 3
    )`;
  step("Counting, summing up and vacuuming, as the writer and the jobs do");
  await sql`
    select logloom_private.recount_records(d)
    from unnest(logloom_private.partition_days()) d`;
  for (;;) {
    const [{ rest }] = await sql<{ rest: string | null }[]>`
      select logloom_private.compact_log_counts() as rest`;
    if (rest === null) break;
  }
  await sql`
    select setval('logloom_private.write_seq', max(a.write_seq) + 1) from logloom_private.log_writes a`;
  await sql`vacuum analyze logloom.logs`;
  await sql`vacuum analyze logloom_private.log_counts`;
  await sql`vacuum analyze logloom_private.log_writes`;
  await sql`checkpoint`;
}

async function measure(bench: BenchStack, days: number): Promise<void> {
  const [{ records }] = await bench.sql<{ records: number }[]>`
    select count(*)::float8 as records from logloom.logs`;
  const figures: Figure[] = [{ name: "records", value: thousands(records) }];
  const now = new Date();
  for (const one of casesOf(days)) {
    step(one.name);
    const times = await time(bench, one.operation, parametersOf(one, now));
    figures.push(figure(one.name, times, one.limit));
  }
  figures.push(...await measurePages(bench, now));
  figures.push(...await measureStages(bench, "rows", now));
  printFigures(`Search, p95 of ${runs} runs over HTTP, warm`, figures);
  await hideFields(bench.sql);
  const title =
    "Medians of a viewer without attrs.component and attrs.client.port, and of a member";
  printFigures(`${title}, over rows`, await measureHidden(bench, now, days));
  const midnight = await sealBeforeToday(bench, days);
  printFigures(`${title}, over sealed days`, await measureHidden(bench, midnight, days - 1));
  printFigures("A condition and math, sealed", await measureStages(bench, "blocks", midnight));
  step("Compiler");
  printFigures(
    "Compiler, queries of 2,048 bytes, in the database",
    await measureCompiler(bench.sql),
  );
}

function figure(name: string, times: number[], limit?: number): Figure {
  const p95 = percentile(times, 0.95);
  return {
    name,
    value: `p50 ${percentile(times, 0.5).toFixed(1)}, p95 ${p95.toFixed(1)} ms`,
    limit: limit === undefined ? undefined : `≤ ${limit} ms`,
    holds: limit === undefined ? undefined : p95 <= limit,
  };
}

/** Measures the first page, and a page fifty pages deep. */
async function measurePages(bench: BenchStack, now: Date): Promise<Figure[]> {
  step("Pages");
  const range = {
    p_query_dsl: "level:info",
    p_ts_from: new Date(now.getTime() - 24 * 3_600_000).toISOString(),
    p_ts_to: now.toISOString(),
  };
  const first = await time(bench, "search_logs", range);
  let cursor: string | null = null;
  for (let page = 1; page < 50; page++) {
    const body: { next_cursor: string | null } = await call(bench, "search_logs", {
      ...range,
      p_cursor: cursor,
    });
    cursor = body.next_cursor;
  }
  const deep = await time(bench, "search_logs", { ...range, p_cursor: cursor });
  const share = percentile(deep, 0.95) / percentile(first, 0.95);
  return [
    figure("first page of level:info", first),
    { ...figure("… page 50", deep), limit: "≤ 2 × the first", holds: share <= 2 },
  ];
}

/** Compares aggregates of a day with the same under a condition and with math, in turn. */
async function measureStages(bench: BenchStack, source: string, end: Date): Promise<Figure[]> {
  step("Conditions and math");
  const aggregates: [name: string, plain: string, staged: string][] = [
    [
      "count() by service",
      "| count() as n by service",
      "| count() if (level:error) as e, count() as n by service | math e / n * 100 as share",
    ],
    [
      `avg(attrs.bytes) by host, over ${source}`,
      "route:* | avg(@bytes) as n by host",
      "route:* | avg(@bytes) if (level:info) as n by host | math n / 1024 as kb",
    ],
  ];
  const figures: Figure[] = [];
  for (const [name, ...queries] of aggregates) {
    const times: [number[], number[]] = [[], []];
    for (let n = -2; n < runs; n++) {
      for (const [at, p_query_dsl] of queries.entries()) {
        const started = performance.now();
        const p_ts_from = new Date(end.getTime() - 24 * 3_600_000).toISOString();
        await call(bench, "log_stats", { p_query_dsl, p_ts_from, p_ts_to: end.toISOString() });
        if (n >= 0) times[at].push(performance.now() - started);
      }
    }
    const [plain, staged] = times.map((all) => percentile(all, 0.5));
    figures.push({
      name: `${name}: a condition and math`,
      value: `${staged.toFixed(1)} and ${plain.toFixed(1)} ms, ${ratio(staged, plain)} ×`,
      limit: "≤ 1.2 ×",
      holds: staged <= 1.2 * plain,
    });
  }
  return figures;
}

async function hideFields(sql: postgres.Sql): Promise<void> {
  await sql`
    with v as (
      insert into logloom.log_views (tenant_id, name, hidden_fields, created_by)
      values (${tenant}, 'hidden', '{attrs.client.port,attrs.component}', ${member})
      returning tenant_id, view_id
    )
    insert into logloom.tenant_members (tenant_id, user_id, role, view_id)
    select v.tenant_id, ${viewer}, 'viewer', v.view_id from v
    union all
    select ${tenant}, ${member}, 'member', null`;
}

/** Seals all days except today's. Returns the end of the last sealed day. */
async function sealBeforeToday(bench: BenchStack, days: number): Promise<Date> {
  step("Sealing");
  const midnight = new Date(new Date().toISOString().slice(0, 10));
  const daysAgo = (n: number) => new Date(midnight.getTime() - n * 24 * 3_600_000);
  const before = Array.from({ length: days }, (_, n) => daysAgo(n + 1).toISOString().slice(0, 10));
  await seal(bench, tenant, before);
  await vacuumSealed(bench);
  return midnight;
}

/** Asks twelve questions as a viewer and as a member in turn. */
async function measureHidden(bench: BenchStack, now: Date, days: number): Promise<Figure[]> {
  step("Hidden fields");
  const figures: Figure[] = [];
  for (const one of questionsOf(days)) {
    step(one.name);
    const times: Record<string, number[]> = { [viewer]: [], [member]: [] };
    for (let n = -2; n < runs; n++) {
      for (const user of [viewer, member]) {
        const started = performance.now();
        await call(bench, one.operation, parametersOf(one, now), user);
        if (n >= 0) times[user].push(performance.now() - started);
      }
    }
    const [hidden, open] = [percentile(times[viewer], 0.5), percentile(times[member], 0.5)];
    figures.push({
      name: one.name,
      value: `${hidden.toFixed(1)} and ${open.toFixed(1)} ms, ${ratio(hidden, open)} ×`,
      limit: "≤ 1.5 ×",
      holds: hidden <= 1.5 * open,
    });
  }
  return figures;
}

/** Measures the milliseconds of each run, after some runs to warm up. */
async function time(
  bench: BenchStack,
  operation: string,
  parameters: Record<string, unknown>,
): Promise<number[]> {
  const times: number[] = [];
  for (let n = -5; n < runs; n++) {
    const started = performance.now();
    await call(bench, operation, parameters);
    if (n >= 0) times.push(performance.now() - started);
  }
  return times;
}

async function call<Body>(
  bench: BenchStack,
  operation: string,
  parameters: Record<string, unknown>,
  user = member,
): Promise<Body> {
  const response = await fetch(`${bench.state.url}/rest/v1/rpc/${operation}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${userToken(user, tenant)}`,
      "content-type": "application/json",
    },
    body: JSON.stringify(parameters),
  });
  const body = await response.json();
  if (response.status !== 200) throw new Error(`${operation}: ${JSON.stringify(body)}`);
  return body;
}
