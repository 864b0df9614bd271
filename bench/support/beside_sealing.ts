import { Failure } from "../../local/exit_on_failure.ts";
import { serviceRoleKey } from "../../local/signing_keys.ts";
import { drawnAnew } from "./unique_events.ts";
import { type Event, makeBodies } from "./events.ts";
import { load, pace } from "./load.ts";
import { type Figure, percentile, ratio, thousands } from "./report.ts";
import { copyDay, fillDay, makeDays } from "./sealed_days.ts";
import type { BenchStack } from "./stack.ts";
import { setPaused } from "./pause_jobs.ts";

/**
 * The number of records of the tenant whose days are sealed. They are copied into each day, which the job seals in less
 * than half a minute.
 */
const drawnRecords = 200_000;
const copiesADay = 2;
/**
 * The number of records of the other tenant, whose days are not sealed. These records remain rows and are copied when
 * the day's partition is replaced.
 */
const remainingRecords = 20_000;
const mostRuns = 3;

// These are enough requests for a p99, although the job works for less than half of each minute.
const requestsASecond = 60;
const eventsARequest = 25;

/** The times of a steady sender, and of the writer, in a phase. */
interface Phase {
  /** Milliseconds of each request, with its start and end. */
  requests: { sent: number; answered: number }[];
  /** Milliseconds of each run of the writer, and its start. */
  runs: { began: number; duration: number }[];
  /** The times at which the job was seen at work. */
  sealing: { began: number; ended: number }[];
}

/**
 * Measures how much slower ingest and the writer are while the job, run by pg_cron, seals a full day and replaces its
 * partition. Minutes without and with the job take turns; of the minutes with it, only its working time counts.
 */
export async function besideSealingFigures(
  bench: BenchStack,
  events: Event[],
  rounds: number,
): Promise<Figure[]> {
  const { sql } = bench;
  const key = await makeTenants(bench);
  const [body] = makeBodies(events.slice(0, eventsARequest), 490_000);
  const send = () =>
    fetch(`${bench.state.url}/functions/v1/ingest`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: body.stamped() as BodyInit,
    });
  await setSealing(bench, false);
  // Only days older than three days are sealed. The day that they are copied from is newer.
  await sql`update logloom_private.settings set seal_after = '3 days' where singleton`;
  const [{ days }] = await sql<{ days: string[] }[]>`
    select array_agg((logloom_private.utc_day(now()) - 3 - i)::text order by i) as days
    from generate_series(0, ${rounds}::integer) i`;
  const [template, ...filled] = days;
  await makeDays(bench, "sealed", [template]);
  await fillDay(bench, "sealed", drawnAnew(events, drawnRecords), template, drawnRecords);

  console.error("  Warming up");
  await load({ connections: 2, seconds: 5, pause: pace(requestsASecond) }, send);
  const without: Phase[] = [];
  const beside: Phase[] = [];
  let sealed = 0;
  for (const [round, day] of filled.entries()) {
    console.error(`  Round ${round + 1} of ${rounds}`);
    const partition = `logloom.logs_${day.replaceAll("-", "_")}`;
    await makeDays(bench, "sealed", [day]);
    for (let copy = 0; copy < copiesADay; copy++) {
      await copyDay(bench, "sealed", template, day, copy);
    }
    await fillDay(bench, "stays", drawnAnew(events, remainingRecords), day, remainingRecords);
    const whole = await partitionOf(bench, day);
    await sql.unsafe(`vacuum (freeze, analyze) ${partition}`);
    await sql`checkpoint`;
    without.push(await minute(bench, send));
    const before = await sealedRecords(bench);
    await setSealing(bench, true);
    // A run leaves the partition to the next run if an older snapshot exists.
    for (let run = 1; await partitionOf(bench, day) === whole; run++) {
      if (run > mostRuns) {
        throw new Failure(`The partition of ${day} was not replaced in ${mostRuns} runs.`);
      }
      beside.push(await minute(bench, send));
    }
    await setSealing(bench, false);
    await atRest(bench);
    sealed += await sealedRecords(bench) - before;
  }
  return figures(without, beside, sealed);
}

function figures(without: Phase[], beside: Phase[], sealed: number): Figure[] {
  const isBeside = (phase: Phase, from: number, to: number) =>
    phase.sealing.some(({ began, ended }) => began <= from && to <= ended);
  const requests = [
    without.flatMap((phase) => phase.requests),
    beside.flatMap((phase) =>
      phase.requests.filter(({ sent, answered }) => isBeside(phase, sent, answered))
    ),
  ].map((all) => all.map(({ sent, answered }) => answered - sent));
  const runs = [
    without.flatMap((phase) => phase.runs),
    beside.flatMap((phase) =>
      phase.runs.filter(({ began, duration }) => isBeside(phase, began, began + duration))
    ),
  ].map((all) => all.map(({ duration }) => duration));
  const seconds = beside.flatMap(({ sealing }) => sealing)
    .reduce((sum, { began, ended }) => sum + (ended - began) / 1000, 0);
  const compared = (name: string, [base, met]: number[][], share: number, most: number): Figure => {
    const [calm, loud] = [percentile(base, share), percentile(met, share)];
    return {
      name: `${name}, without and beside sealing`,
      value: `${calm.toFixed(1)}, ${loud.toFixed(1)}: ${ratio(loud, calm)}`,
      limit: `≤ ${most} ×`,
      holds: loud <= most * calm,
    };
  };
  return [
    { name: "requests a second, events of each", value: `${requestsASecond}, ${eventsARequest}` },
    {
      name: "records sealed meanwhile, and a second of the job's time",
      value: `${thousands(sealed)}, ${thousands(sealed / seconds)}`,
    },
    {
      name: "requests and runs of the writer, without and beside sealing",
      value: [...requests, ...runs].map(({ length }) => thousands(length)).join(", "),
    },
    ...([[0.5, "p50"], [0.95, "p95"]] as const).map(([share, name]) => ({
      name: `ingest ${name}, ms, without and beside sealing`,
      value: requests.map((times) => percentile(times, share).toFixed(1)).join(", "),
    })),
    compared("ingest p99, ms", requests, 0.99, 1.1),
    {
      name: "writer's run p50, ms, without and beside sealing",
      value: runs.map((times) => percentile(times, 0.5).toFixed(1)).join(", "),
    },
    compared("writer's run p95, ms", runs, 0.95, 1.3),
  ];
}

async function makeTenants({ sql, state }: BenchStack): Promise<string> {
  await sql`
    insert into logloom.tenants (tenant_id, plan_id)
    values ('sealed', 'enterprise'), ('stays', 'enterprise'), ('sends', 'enterprise')`;
  await sql`insert into logloom.tenant_settings (tenant_id, compression) values ('stays', false)`;
  const response = await fetch(`${state.url}/rest/v1/rpc/create_api_key`, {
    method: "POST",
    headers: { authorization: `Bearer ${serviceRoleKey}`, "content-type": "application/json" },
    body: JSON.stringify({ p_tenant_id: "sends", p_name: "bench" }),
  });
  return (await response.json()).key_value;
}

async function setSealing({ sql }: BenchStack, active: boolean): Promise<void> {
  await setPaused(sql, !active, ["seal_logs"]);
}

async function sealedRecords({ sql }: BenchStack): Promise<number> {
  const [{ records }] = await sql`
    select coalesce(sum(c.records), 0)::float8 as records
    from logloom_private.blocks c where c.tenant_id = 'sealed'`;
  return records;
}

/** Returns the oid of a day's partition, which changes when the partition is replaced. */
async function partitionOf({ sql }: BenchStack, day: string): Promise<number> {
  const [{ oid }] = await sql<{ oid: number }[]>`
    select to_regclass(
      format('logloom.%I', logloom_private.partition_name(${day}::date))
    )::oid as oid`;
  return oid;
}

async function isSealing({ sql }: BenchStack): Promise<boolean> {
  const [{ works }] = await sql`
    select exists (
      select from pg_stat_activity a
      where a.state = 'active' and a.pid <> pg_backend_pid() and a.query like '%seal_logs%'
    ) as works`;
  return works;
}

async function atRest(bench: BenchStack): Promise<void> {
  const end = performance.now() + 90_000;
  while (await isSealing(bench)) {
    if (performance.now() > end) throw new Failure("The run of seal_logs does not end.");
    await pause(100);
  }
}

/** Sends steadily for a minute. Begins at a full minute of the clock, when pg_cron starts the job. */
async function minute(bench: BenchStack, request: () => Promise<Response>): Promise<Phase> {
  await pause(60_000 - Date.now() % 60_000);
  const phase: Phase = { requests: [], runs: [], sealing: [] };
  let isOver = false;
  const watching = watch(bench, phase, () => isOver);
  const sent = await load(
    { connections: 2, seconds: 55, pause: pace(requestsASecond) },
    async () => {
      const sent = Date.now();
      const start = performance.now();
      const response = await request();
      phase.requests.push({ sent, answered: sent + performance.now() - start });
      return response;
    },
  );
  isOver = true;
  await watching;
  if (sent.failures.size > 0) throw new Failure("Not every request was answered 200.");
  return phase;
}

async function watch(bench: BenchStack, phase: Phase, isOver: () => boolean): Promise<void> {
  let last = 0;
  let since: number | undefined;
  while (!isOver()) {
    const [{ began, duration }] = await bench.sql`
      select extract(epoch from j.last_started_at)::float8 * 1000 as began,
        j.last_duration_ms::float8 as duration
      from logloom_private.jobs j where j.name = 'write_logs'`;
    if (began !== last && last > 0) phase.runs.push({ began, duration });
    last = began;
    const works = await isSealing(bench);
    if (works) since ??= Date.now();
    if (!works && since !== undefined) {
      phase.sealing.push({ began: since, ended: Date.now() });
      since = undefined;
    }
    await pause(100);
  }
  if (since !== undefined) phase.sealing.push({ began: since, ended: Date.now() });
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
