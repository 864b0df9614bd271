import { parseArgs } from "node:util";
import postgres from "postgres";
import { copy } from "./ingest/copy_and_insert.ts";
import { bodyBytes, createKey, post } from "./ingest/requests.ts";
import { queueDepth } from "./ingest/writer.ts";
import { drawnAnew } from "./support/unique_events.ts";
import { type Event, loadEvents, makeBodies } from "./support/events.ts";
import { load } from "./support/load.ts";
import { secondsByProcess, used } from "./support/processor.ts";
import { atMost, type Figure, printFigures, thousands } from "./support/report.ts";
import { seal, sealedTables, sizeOf, vacuumSealed } from "./support/sealed_days.ts";
import { type BenchStack, startBenchStack, step } from "./support/stack.ts";

const tenant = "bench";

/** The sustained write rate of Supabase's instances, in megabits a second, from its documentation. */
const instances = { Nano: 43, Micro: 87, Small: 174, Medium: 347, Large: 630 };

/**
 * Measures what Logloom costs a project: while idle, for a request, and for a million events. pg_cron runs the jobs over
 * connections and logs each run, as on a hosted project.
 *
 * Options: --minutes N of idleness (default 5), --events FILE (NDJSON or .gz; default: generated events), --scale N (the
 * events of a day, default 1000000).
 */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      minutes: { type: "string", default: "5" },
      events: { type: "string" },
      scale: { type: "string", default: "1000000" },
    },
  });
  const events = await loadEvents(values.events);
  Deno.env.set("LOGLOOM_CRON_WORKERS", "off");
  await using bench = await startBenchStack();
  const print = (title: string, figures: Figure[]) =>
    printFigures(`${title} (load of the machine: ${Deno.loadavg()[0].toFixed(1)})`, figures);
  const [minutes, scale] = [Number(values.minutes), Number(values.scale)];
  print(`Idle for ${minutes} minutes`, await idleFigures(bench, minutes));
  const key = await createKey(bench, tenant);
  print("A request", await requestFigures(bench, key, events));
  print(`A day of ${thousands(scale)} events`, await dayFigures(bench, key, events, scale));
}

/** Runs a command in a session of its own: its statistics reach autovacuum when the session ends. */
async function inDatabase({ stack }: BenchStack, database: string, command: string): Promise<void> {
  const sql = postgres(stack.adminDatabaseUrl, { database, max: 1 });
  try {
    await sql.unsafe(command);
  } finally {
    await sql.end();
  }
}

type Reading = Awaited<ReturnType<typeof read>>;

/** Reads the stack's counters: bytes, calls of PostgREST that store events, lines of logs. */
async function read({ sql, stack, state }: BenchStack) {
  // Waits, because nginx writes its log only once a second.
  await seconds(2);
  const [counted] = await sql<{ wal: number; written: number; runs: number; calls: number }[]>`
    select
      w.wal,
      w.wal + (select sum(i.writes * i.op_bytes) from pg_stat_io i)::float8 as written,
      (select last_value::float8 from cron.runid_seq) as runs,
      (
        select coalesce(sum(s.calls), 0)::float8
        from extensions.pg_stat_statements s
        where s.query like '%pgrst_source%' and s.query like '%"ingest_text"%'
      ) as calls
    from (select (pg_current_wal_lsn() - '0/0'::pg_lsn)::float8 as wal) w`;
  const log = await Deno.readTextFile(`${state.logs}/postgres.log`);
  return {
    at: performance.now(),
    processor: await secondsByProcess(stack),
    ...counted,
    lines: log.split("\n").filter((line) => /^\d{4}-\d\d-\d\d /.test(line)),
    requests: (await Deno.readTextFile(state.accessLog)).split("\n").length,
  };
}

async function idleFigures(bench: BenchStack, minutes: number): Promise<Figure[]> {
  const { sql } = bench;
  step("A new server is vacuumed, and rests for a minute");
  // Vacuums first, because autovacuum's remaining work would count as a cost of the idle service.
  for (const command of ["vacuum (analyze)", "vacuum pg_statistic"]) {
    await inDatabase(bench, "template1", command);
    await inDatabase(bench, "postgres", command);
  }
  await seconds(60);
  step(`Idle for ${minutes} minutes`);
  await sql`checkpoint`;
  const before = await read(bench);
  let connections = 0;
  for (let tens = 1; tens <= 6 * minutes; tens++) {
    await seconds(10);
    // Makes a checkpoint as often as PostgreSQL does by default. The first change of a page after a checkpoint logs the
    // whole page.
    if (tens % 30 === 0) await sql`checkpoint`;
    const jobs = await sql`
      select from pg_stat_activity
      where query like 'call logloom_private.work(%' and backend_type = 'client backend'`;
    connections = Math.max(connections, jobs.length);
  }
  const after = await read(bench);
  const passed = (after.at - before.at) / 1000;
  const aDay = (value: number) => value / passed * 86_400;
  const cores = [...used(before.processor, after.processor)];
  const share = (isDatabase: boolean) =>
    100 * cores.filter(([name]) => (name === "postgres") === isDatabase)
      .reduce((sum, [, value]) => sum + value, 0) /
    passed;
  const lines = after.lines.slice(before.lines.length);
  const walAnHour = aDay(after.wal - before.wal) / 24 / 1e6;
  return [
    atMost("processor time of the database, % of a core", share(true), 1.2, 2),
    atMost("… of PostgREST, the functions and the gateway", share(false), 0.3, 2),
    atMost("runs of pg_cron a day", aDay(after.runs - before.runs), 5000),
    atMost("connections of jobs", connections, 3),
    atMost("WAL an hour, MB", walAnHour, 1, 2),
    ...Object.entries({
      "written to the disk a day, MB": (after.written - before.written) / 1e6,
      "lines of PostgreSQL's log a day": lines.length,
      "… those of pg_cron": lines.filter(isOfCron).length,
      "… bytes of them": lines.join("\n").length,
    }).map(([name, value]) => ({ name, value: thousands(aDay(value)) })),
  ];
}

/** Sends requests one after the other, so that no two share a call. */
async function requestFigures(bench: BenchStack, key: string, events: Event[]): Promise<Figure[]> {
  const url = `${bench.state.url}/functions/v1/ingest`;
  const count = 200;
  const figures: Figure[] = [];
  for (const size of [1, 500]) {
    step(`${count} requests, of ${size === 1 ? "one event" : `${size} events`} each`);
    const [body] = makeBodies(events.slice(0, size), bodyBytes);
    const before = await read(bench);
    await load({ connections: 1, seconds: 600, count }, () => post(url, key, body.stamped()));
    await stored(bench);
    const after = await read(bench);
    const lines = after.lines.slice(before.lines.length).filter((line) => !isOfCron(line));
    const [calls, requests] = [after.calls - before.calls, after.requests - before.requests];
    figures.push(
      {
        name: `${body.events} events: invocations, calls of PostgREST, lines of PostgreSQL's log`,
        value: [requests, calls, lines.length].map((all) => `${all / count}`).join(", "),
      },
      {
        name: "… WAL, bytes an event",
        value: thousands((after.wal - before.wal) / count / body.events),
      },
    );
  }
  const rows = await copy(bench);
  return [{ name: "R: COPY, rows/s", value: thousands(rows) }, ...figures];
}

/** Measures a past day of events: sent, stored as rows, then sealed. */
async function dayFigures(
  bench: BenchStack,
  key: string,
  events: Event[],
  scale: number,
): Promise<Figure[]> {
  const { sql } = bench;
  await sql`update logloom_private.settings set seal_after = '1000 days' where singleton`;
  const [{ day, partition }] = await sql<{ day: string; partition: string }[]>`
    select d.day::text as day, logloom_private.partition_name(d.day) as partition
    from (select logloom_private.utc_day(now()) - 2 as day) d`;
  const drawn = drawnAnew(events, scale);
  const encoder = new TextEncoder();
  let [json, made, queued] = [0, 0, 0];
  const nextBody = () => {
    const records = Array.from({ length: Math.min(1000, scale - made) }, () => ({
      ...drawn.next().value,
      ts: new Date(Date.parse(day) + Math.floor(made++ * 86_399_000 / scale)).toISOString(),
    }));
    const body = encoder.encode(JSON.stringify(records));
    json += body.length;
    return body;
  };
  step(`Sending ${thousands(scale)} events`);
  await sql`checkpoint`;
  const before = await read(bench);
  const watch = setInterval(async () => {
    queued = Math.max(queued, await sizeOf(bench, [0, 1, 2].map((n) => `queue_slot_${n}`)));
  }, 500);
  const url = `${bench.state.url}/functions/v1/ingest`;
  await load(
    { connections: 4, seconds: 7200, count: Math.ceil(scale / 1000) },
    () => post(url, key, nextBody()),
  );
  await stored(bench);
  clearInterval(watch);
  await sql`checkpoint`;
  const asRows = await read(bench);
  const rowBytes = await sizeOf(bench, [partition]);
  step("Sealing them");
  await seal(bench, tenant, [day]);
  await vacuumSealed(bench);
  await sql`checkpoint`;
  const sealed = await read(bench);
  const sealedBytes = await sizeOf(bench, sealedTables);

  const written = sealed.written - before.written;
  const both = (name: string, value: (reading: Reading) => number) => ({
    name: `${name} as rows, then to seal them`,
    value: [value(asRows) - value(before), value(sealed) - value(asRows)]
      .map((part) => thousands(part / scale)).join(", "),
  });
  const database = ({ processor }: Reading) => 1e6 * processor.get("postgres")!;
  return [
    { name: "bytes of JSON an event", value: thousands(json / scale) },
    { name: "bytes of a row with its index", value: thousands(rowBytes / scale) },
    { name: "bytes of an event in a block", value: (sealedBytes / scale).toFixed(1) },
    { name: "the queue at most, MB", value: thousands(queued / 1e6) },
    both("WAL, bytes an event", (reading) => reading.wal),
    both("written to the disk, bytes an event", (reading) => reading.written),
    both("processor time of PostgreSQL, µs an event", database),
    ...Object.entries(instances).map(([name, megabits]) => ({
      name: `events/s that ${name} writes: ${(megabits / 8).toFixed(1)} MB/s`,
      value: thousands(megabits / 8 * 1e6 / (written / scale)),
    })),
  ];
}

function isOfCron(line: string): boolean {
  return line.includes("LOG:  cron job ");
}

/** Waits until the writer has emptied the queue. */
async function stored(bench: BenchStack): Promise<void> {
  while (await queueDepth(bench) > 0) await seconds(0.2);
}

function seconds(count: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, count * 1000));
}
