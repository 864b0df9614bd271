import { parseArgs } from "node:util";
import { Failure } from "../local/failure.ts";
import { userToken } from "../local/keys.ts";
import { type Event, loadEvents } from "./support/events.ts";
import { pace } from "./support/load.ts";
import { manyTenantFigures } from "./support/many_tenants.ts";
import { memory } from "./support/memory.ts";
import {
  endSealing,
  expiredBlocks,
  sealByPlayedTime,
  sealingFigures,
  sizeOfSealed,
  storedRecords,
} from "./support/played_sealing.ts";
import { type Figure, percentile, printFigures, ratio, thousands } from "./support/report.ts";
import { type BenchStack, startBenchStack } from "./support/stack.ts";
import { setPaused } from "./support/jobs.ts";

const dayMs = 86_400_000;
const days = 30;
const bodyEvents = 200;

interface SoakTenant {
  id: string;
  retentionDays: number;
  token: string;
  key: string;
  acknowledged: number;
  bytes: number;
}

/** Counters of the run. */
interface Tally {
  /** Answers other than 200, by request and status. */
  errors: Map<string, number>;
  ingest: number[];
  /** Milliseconds of the searches of the last day, and of a sealed one. */
  search: { hot: number[]; sealed: number[] };
  /** Milliseconds of the writer's runs, without and beside retention. */
  writer: { resting: number[]; working: number[] };
  retention: number[];
  /** Chunks that were due at a run of retention, and of them those that it left. */
  blocks: { dropped: number; left: number };
  memory: Map<string, number>[];
  deepest: number;
}

/**
 * Thirty days of event times in some minutes: ingest, searches, alerts, sealing and retention at once.
 *
 * Options: --minutes N (default 20), --rate N events a second (default 2000), --events FILE. With --tenants N instead a
 * night of that many tenants with a handful of events a day each.
 */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      minutes: { type: "string", default: "20" },
      rate: { type: "string", default: "2000" },
      events: { type: "string" },
      tenants: { type: "string" },
    },
  });
  const events = await loadEvents(values.events);
  const bench = await startBenchStack();
  try {
    const figures = values.tenants === undefined
      ? await soak(bench, events, Number(values.minutes) * 60, Number(values.rate))
      : await soakManyTenants(bench, events, Number(values.tenants));
    if (figures.some(({ holds }) => holds === false)) throw new Failure("Not every limit holds.");
  } finally {
    await bench.stop();
  }
}

async function soakManyTenants(
  bench: BenchStack,
  events: Event[],
  tenants: number,
): Promise<Figure[]> {
  const { key } = await makeTenant(bench, 30);
  const body = JSON.stringify(events.slice(0, 20));
  const figures = await manyTenantFigures(
    bench,
    tenants,
    () =>
      fetch(`${bench.state.url}/functions/v1/ingest`, {
        method: "POST",
        headers: { "x-api-key": key, "content-type": "application/json" },
        body,
      }),
  );
  printFigures("Many tenants with few events", figures);
  return figures;
}

async function soak(
  bench: BenchStack,
  events: Event[],
  seconds: number,
  rate: number,
): Promise<Figure[]> {
  const { sql } = bench;
  // Time is played here; the jobs would use the real one.
  await setPaused(sql, true, ["run_retention"]);
  const tenants = await Promise.all([3, 7, 14, 30].map((kept) => makeTenant(bench, kept)));
  await keepFrom(bench, Math.floor(Date.now() / dayMs) - days + 1);
  const tally: Tally = {
    errors: new Map(),
    ingest: [],
    search: { hot: [], sealed: [] },
    writer: { resting: [], working: [] },
    retention: [],
    blocks: { dropped: 0, left: 0 },
    memory: [],
    deepest: 0,
  };

  const began = Date.now();
  const firstDay = Math.floor(began / dayMs) * dayMs - (days - 1) * dayMs;
  // The last played day is today, and only its past has happened.
  const time = { began, first: firstDay, last: began + seconds * 1000, seconds };
  const progress = () => Math.min(1, (Date.now() - began) / (seconds * 1000));
  const isOver = () => progress() >= 1;
  const clock = () => firstDay + progress() * (time.last - firstDay);
  await sealByPlayedTime(bench, time);

  const sizes: { day: number; bytes: number; records: number }[] = [];
  await Promise.all([
    ...Array.from({ length: 2 }, () => {
      const wait = pace(rate / bodyEvents / 2);
      return sendEvents(bench, tenants, events, clock, isOver, wait, tally);
    }),
    searchLogs(bench, tenants, clock, isOver, tally),
    keepDays(bench, clock, isOver, tally, sizes),
    watch(bench, isOver, tally),
  ]);
  console.error("  Emptying the queue …");
  await drained(bench);
  console.error("  Sealing what is due …");
  await endSealing(bench);
  await keepFrom(bench, Math.floor(Date.now() / dayMs));
  await retain(bench);
  return await report(bench, tenants, tally, sizes, seconds);
}

async function makeTenant({ sql, state }: BenchStack, retentionDays: number): Promise<SoakTenant> {
  const id = `keeps-${retentionDays}`;
  await sql`insert into logloom.tenants (tenant_id, plan_id) values (${id}, 'enterprise')`;
  await sql`
    insert into logloom.tenant_settings (tenant_id, retention_days) values (${id}, ${retentionDays})`;
  const token = userToken(crypto.randomUUID(), id);
  const call = async (operation: string, parameters: Record<string, unknown>) => {
    const response = await fetch(`${state.url}/rest/v1/rpc/${operation}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(parameters),
    });
    if (response.status !== 200) throw new Failure(`${operation}: ${await response.text()}`);
    return await response.json();
  };
  for (const p_query_dsl of ["level:error", "service:api", "ts:* | rate()"]) {
    await call("create_alert_rule", {
      p_name: p_query_dsl,
      p_query_dsl,
      p_threshold: 0,
      p_comparison: "gte",
      p_window_minutes: 5,
      p_cooldown_minutes: 1,
      p_enabled: true,
    });
  }
  const { key_value: key } = await call("create_api_key", { p_name: "soak" });
  return { id, retentionDays, token, key, acknowledged: 0, bytes: 0 };
}

async function sendEvents(
  { state }: BenchStack,
  tenants: SoakTenant[],
  events: Event[],
  clock: () => number,
  isOver: () => boolean,
  wait: () => Promise<void>,
  tally: Tally,
): Promise<void> {
  const encoder = new TextEncoder();
  for (let n = 0; !isOver(); n++) {
    await wait();
    const tenant = tenants[n % tenants.length];
    const now = clock();
    const batch = Array.from({ length: bodyEvents }, (_, index) => {
      // One in a hundred is a day late.
      const late = index % 100 === 99 ? dayMs : 0;
      const ts = new Date(now - Math.random() * 60_000 - late).toISOString();
      return { ...events[(n * bodyEvents + index) % events.length], ts };
    });
    const body = encoder.encode(JSON.stringify(batch));
    const sent = performance.now();
    const response = await fetch(`${state.url}/functions/v1/ingest`, {
      method: "POST",
      headers: { "x-api-key": tenant.key, "content-type": "application/json" },
      body,
    });
    const answer = await response.json();
    if (response.status === 200) {
      tally.ingest.push(performance.now() - sent);
      if (answer.rejected > 0) note(tally, `ingest with rejected events`);
      tenant.acknowledged += answer.ingested;
      tenant.bytes += body.length;
    } else {
      note(tally, `ingest ${response.status}`);
    }
  }
}

async function searchLogs(
  { state }: BenchStack,
  tenants: SoakTenant[],
  clock: () => number,
  isOver: () => boolean,
  tally: Tally,
): Promise<void> {
  const ranged: [string, Record<string, unknown>][] = [
    ["search_logs", { p_query_dsl: "level:error" }],
    ["log_stats", { p_query_dsl: "ts:* | count() by service" }],
    ["log_histogram", { p_query_dsl: "level:>=warn" }],
    ["search_logs", { p_query_dsl: '"connection refused" -host:web-1' }],
    ["log_stats", { p_query_dsl: '"connection refused" | count() by host' }],
  ];
  const asked = [
    ...ranged.flatMap(([operation, parameters]) =>
      (["hot", "sealed"] as const).map((range) => ({ operation, parameters, range }))
    ),
    { operation: "tail_logs", parameters: { p_query_dsl: "service:api" } },
    { operation: "get_tenant_usage", parameters: {} },
  ];
  const first = Math.floor(clock() / dayMs);
  for (let n = 0; !isOver(); n++) {
    const { operation, parameters, range } = { range: undefined, ...asked[n % asked.length] };
    const now = clock();
    const midnight = Math.floor(now / dayMs) * dayMs;
    // The day before yesterday: sealed, except for late records.
    const [from, to] = range === "sealed"
      ? [midnight - 2 * dayMs, midnight - dayMs]
      : [now - dayMs, now];
    if (range === "sealed" && midnight / dayMs < first + 2) continue;
    const sent = performance.now();
    const response = await fetch(`${state.url}/rest/v1/rpc/${operation}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${tenants[Math.floor(n / asked.length) % tenants.length].token}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({
        ...parameters,
        ...range && { p_ts_from: new Date(from), p_ts_to: new Date(to) },
      }),
    });
    await response.arrayBuffer();
    if (response.status !== 200) note(tally, `${operation} ${response.status}`);
    else if (range) tally.search[range].push(performance.now() - sent);
    await pause(150);
  }
}

/**
 * Makes the tenants keep this many days before a played one, plus the days from there to today, so that ingest,
 * searches and retention use the played day.
 */
async function keepFrom({ sql }: BenchStack, today: number): Promise<void> {
  await sql`
    update logloom.tenant_settings
    set retention_days = split_part(tenant_id, '-', 2)::integer
      + ${Math.floor(Date.now() / dayMs) - today}::integer`;
}

/** At each played midnight: the size of the day that ended, and retention. */
async function keepDays(
  bench: BenchStack,
  clock: () => number,
  isOver: () => boolean,
  tally: Tally,
  sizes: { day: number; bytes: number; records: number }[],
): Promise<void> {
  const { sql } = bench;
  let today = Math.floor(clock() / dayMs);
  while (!isOver()) {
    await pause(100);
    const day = Math.floor(clock() / dayMs);
    if (day === today) continue;
    const name = `logs_${new Date(today * dayMs).toISOString().slice(0, 10).replaceAll("-", "_")}`;
    const [size] = await sql`
      select pg_total_relation_size(${`logloom.${name}`}::text::regclass)::float8 as bytes,
        (select count(*)::float8 from ${sql(`logloom.${name}`)}) as records`;
    sizes.push({ day: today, bytes: size.bytes, records: size.records });
    today = day;
    await keepFrom(bench, today);
    const due = await expiredBlocks(bench);
    const began = performance.now();
    retentionWorks = true;
    await retain(bench);
    retentionWorks = false;
    tally.retention.push(performance.now() - began);
    const left = await expiredBlocks(bench);
    tally.blocks.dropped += due - left;
    tally.blocks.left += left;
  }
}

let retentionWorks = false;

/** A night's retention, again on the same real day. */
async function retain({ sql }: BenchStack): Promise<void> {
  await sql`update logloom_private.retention_place set today = today - 1`;
  for (;;) {
    await sql`select logloom_private.begin_retention(logloom_private.utc_day(now()))`;
    await sql`call logloom_private.run_job('run_retention')`;
    const [{ done }] = await sql`
      select finished_at is not null as done from logloom_private.retention_place`;
    if (done) return;
  }
}

async function watch(bench: BenchStack, isOver: () => boolean, tally: Tally): Promise<void> {
  let lastRun = "";
  for (let n = 0; !isOver(); n++) {
    await pause(200);
    const working = retentionWorks;
    const [{ run, duration }] = await bench.sql`
      select last_succeeded_at::text as run, last_duration_ms as duration
      from logloom_private.jobs where name = 'write_logs'`;
    if (run !== lastRun) {
      tally.writer[working || retentionWorks ? "working" : "resting"].push(duration);
      lastRun = run;
    }
    if (n % 25 !== 0) continue;
    tally.deepest = Math.max(tally.deepest, await depth(bench));
    tally.memory.push(await memory(bench.state, "Pss_Anon"));
  }
}

async function report(
  bench: BenchStack,
  tenants: SoakTenant[],
  tally: Tally,
  sizes: { day: number; bytes: number; records: number }[],
  seconds: number,
): Promise<Figure[]> {
  const { sql } = bench;
  const [jobs] = await sql`
    select coalesce(string_agg(j.name || ': ' || j.last_error, '; '), 'none') as failed
    from logloom_private.jobs j where j.last_failed_at is not null`;
  console.error("  Reading every record …");
  const stored = await storedRecords(bench);
  const counted = new Map<string, number[]>();
  for (const tenant of tenants) {
    counted.set(tenant.id, [
      await countOf(bench, tenant, "| count()"),
      // Without counts.
      await countOf(bench, tenant, '-"no message says this" | count()'),
    ]);
  }
  const rowsKept = await sql<{ tenant_id: string; oldest: number }[]>`
    select l.tenant_id, logloom_private.utc_day(now()) - logloom_private.utc_day(min(l.ts)) as oldest
    from logloom.logs l group by 1`;
  const deleted = await sql<{ tenant_id: string; records: number }[]>`
    select r.tenant_id, sum(r.records)::float8 as records from logloom.retention_runs r group by 1`;
  const usage = await sql<{ tenant_id: string; events: number; bytes: number }[]>`
    select u.tenant_id, sum(u.events)::float8 as events, sum(u.bytes)::float8 as bytes
    from logloom.usage_days u group by 1`;
  const of = <Row extends { tenant_id: string }>(rows: Row[], id: string) =>
    rows.find(({ tenant_id }) => tenant_id === id);
  const acknowledged = tenants.reduce((sum, one) => sum + one.acknowledged, 0);
  const lost = tenants.filter(({ id, acknowledged }) => {
    const kept = of(stored, id)?.kept ?? 0;
    return kept + (of([...deleted], id)?.records ?? 0) !== acknowledged;
  });
  const doubled = stored.filter(({ rows, sealed, ids }) => rows + sealed !== ids);
  const misfound = tenants.filter(({ id }) =>
    counted.get(id)!.some((count) => count !== (of(stored, id)?.kept ?? 0))
  );
  const miscounted = tenants.filter((one) => {
    const counted = of([...usage], one.id);
    return counted?.events !== one.acknowledged || counted.bytes !== one.bytes;
  });
  const tooOld = tenants.filter((one) =>
    (of([...rowsKept], one.id)?.oldest ?? 0) > one.retentionDays
  );
  const expired = await expiredBlocks(bench);
  const [{ dead }] = await sql`
    select count(*)::integer as dead from logloom_private.dead_letters`;
  const [alerts] = await sql`select count(*)::integer as fired from logloom.alert_history`;

  // A day with records of every tenant and without deletions: the size of a record.
  const full = sizes.slice(1);
  const perRecord = full.reduce((sum, one) => sum + one.bytes, 0) /
    full.reduce((sum, one) => sum + one.records, 0);
  await sql`analyze logloom.logs`;
  const beyond = stored.reduce((sum, { rows, sealed, kept }) => sum + rows + sealed - kept, 0);
  const records = stored.reduce((sum, { rows, sealed }) => sum + rows + sealed, 0);
  const asRows = records * perRecord;
  const sealedBytes = await sizeOfSealed(bench);
  const [now] = await sql`
    select
      sum(pg_total_relation_size(i.inhrelid))::float8 as bytes,
      sum(pg_indexes_size(i.inhrelid))::float8 as indexes
    from pg_inherits i where i.inhparent = 'logloom.logs'::regclass`;
  const hot = await sql<{ name: string; bytes: number; dead: number }[]>`
    select s.schemaname || '.' || s.relname as name,
      pg_total_relation_size(s.relid)::float8 as bytes, s.n_dead_tup::float8 as dead
    from pg_stat_user_tables s
    where s.schemaname in ('logloom', 'logloom_private') and s.relname not like 'logs\_%'
    order by bytes desc limit 8`;
  const [old] = await sql`
    select coalesce(sum(s.n_dead_tup), 0)::float8 as dead
    from pg_stat_user_tables s where s.schemaname = 'logloom' and s.relname like 'logs\\_%'`;

  const figures: Figure[] = [
    { name: "minutes, played days", value: `${(seconds / 60).toFixed(0)}, ${days}` },
    { name: "events acknowledged", value: thousands(acknowledged) },
    figure("answers other than 200", list(tally.errors) || "none", "none", tally.errors.size === 0),
    figure("jobs that failed", jobs.failed, "none", jobs.failed === "none"),
    figure(
      "tenants whose records and deletions are not what was acknowledged",
      `${lost.length}`,
      "0",
      lost.length === 0,
    ),
    figure(
      "tenants with a record twice, of rows and blocks",
      `${doubled.length}`,
      "0",
      doubled.length === 0,
    ),
    figure(
      "tenants whose searches count otherwise than their records",
      `${misfound.length}`,
      "0",
      misfound.length === 0,
    ),
    figure(
      "tenants whose usage is not what was acknowledged",
      `${miscounted.length}`,
      "0",
      miscounted.length === 0,
    ),
    figure("tenants with rows past their retention", `${tooOld.length}`, "0", !tooOld.length),
    {
      name: "records past their retention in blocks of weeks that are not over for it",
      value: thousands(beyond),
    },
    figure(
      "blocks dropped by retention, left by one of its runs, left at the end",
      `${thousands(tally.blocks.dropped)}, ${tally.blocks.left}, ${expired}`,
      "some, 0, 0",
      tally.blocks.dropped > 0 && tally.blocks.left === 0 && expired === 0,
    ),
    figure("dead letters", `${dead}`, "0", dead === 0),
    { name: "records deleted", value: thousands([...deleted].reduce((s, r) => s + r.records, 0)) },
    { name: "alerts fired", value: thousands(alerts.fired) },
    { name: "ingest p95, ms", value: percentile(tally.ingest, 0.95).toFixed(0) },
    ...([[0.5, "p50"], [0.95, "p95"]] as const).map(([share, name]) => ({
      name: `search ${name}, ms: the last day, a sealed day`,
      value: [tally.search.hot, tally.search.sealed]
        .map((times) => percentile(times, share).toFixed(0)).join(", "),
    })),
    ...await sealingFigures(bench, perRecord, seconds),
    { name: "retention runs, slowest, s", value: (Math.max(...tally.retention) / 1000).toFixed(1) },
    writerFigure(tally),
    { name: "deepest queue, events", value: thousands(tally.deepest) },
    figure("queue at the end, events", "0", "0", true),
    {
      name: "records that are rows, MB, … of which indexes",
      value: [now.bytes, now.indexes].map((bytes) => (bytes / 1e6).toFixed(0)).join(", "),
    },
    figure(
      "rows and blocks, MB (as rows alone)",
      `${((now.bytes + sealedBytes) / 1e6).toFixed(0)} (${(asRows / 1e6).toFixed(0)})`,
      "≤ 1/3",
      now.bytes + sealedBytes <= asRows / 3,
    ),
    figure(
      "dead rows of the logs per record, of rows and blocks",
      ratio(old.dead, records),
      "≤ 0.25",
      old.dead <= 0.25 * records,
    ),
    ...hot.map(({ name, bytes, dead }) => ({
      name: `${name}, MB and dead rows`,
      value: `${(bytes / 1e6).toFixed(1)}, ${thousands(dead)}`,
    })),
    ...memoryFigures(tally.memory),
  ];
  printFigures("Soak", figures);
  return figures;
}

/** The total that a tenant's search counts over all days that it keeps. */
async function countOf({ state }: BenchStack, tenant: SoakTenant, query: string): Promise<number> {
  const response = await fetch(`${state.url}/rest/v1/rpc/log_stats`, {
    method: "POST",
    headers: { authorization: `Bearer ${tenant.token}`, "content-type": "application/json" },
    body: JSON.stringify({
      p_query_dsl: query,
      p_ts_from: new Date(Date.now() - 60 * dayMs),
      p_ts_to: new Date(Date.now() + dayMs),
    }),
  });
  const answer = await response.json();
  if (response.status !== 200) throw new Failure(`log_stats: ${JSON.stringify(answer)}`);
  return answer[0]?.value ?? 0;
}

function figure(name: string, value: string, limit: string, holds: boolean): Figure {
  return { name, value, limit, holds };
}

function writerFigure({ writer }: Tally): Figure {
  const name = "writer's run p95, ms: retention resting, working";
  if (writer.working.length < 20) {
    return { name, value: `${percentile(writer.resting, 0.95).toFixed(0)}, too few runs` };
  }
  const [resting, working] = [writer.resting, writer.working].map((one) => percentile(one, 0.95));
  return figure(
    name,
    `${resting.toFixed(0)}, ${working.toFixed(0)}`,
    "≤ 1.5 ×",
    working <= 1.5 * resting,
  );
}

/** The private memory of a process: its second quarter compared with its last. */
function memoryFigures(samples: Map<string, number>[]): Figure[] {
  const quarter = Math.floor(samples.length / 4);
  if (quarter === 0) return [];
  const average = (part: Map<string, number>[], name: string) =>
    part.reduce((sum, sample) => sum + (sample.get(name) ?? 0), 0) / part.length;
  return [...samples[0].keys()].map((name) => {
    const early = average(samples.slice(quarter, 2 * quarter), name);
    const late = average(samples.slice(-quarter), name);
    return figure(
      `${name}: memory of its own, second and last quarter, MiB`,
      `${early.toFixed(0)}, ${late.toFixed(0)}`,
      "flat",
      late <= 1.25 * early + 16,
    );
  });
}

function note({ errors }: Tally, what: string): void {
  errors.set(what, (errors.get(what) ?? 0) + 1);
}

function list(errors: Map<string, number>): string {
  return [...errors].map(([what, count]) => `${count} × ${what}`).join(", ");
}

async function depth({ sql }: BenchStack): Promise<number> {
  const [{ depth }] = await sql`select (logloom_private.queue_state()).depth::float8 as depth`;
  return depth;
}

async function drained(bench: BenchStack): Promise<void> {
  const end = performance.now() + 30_000;
  while (await depth(bench) > 0) {
    if (performance.now() > end) throw new Failure("The queue is not empty 30 s after the end.");
    await pause(200);
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
