import { parseArgs } from "node:util";
import { serviceRoleKey } from "../local/keys.ts";
import { type Body, type Event, loadEvents, makeBodies } from "./support/events.ts";
import { type Load, load, pace } from "./support/load.ts";
import { memory } from "./support/memory.ts";
import { type Figure, percentile, printFigures, ratio, thousands } from "./support/report.ts";
import { type BenchStack, startBenchStack } from "./support/stack.ts";

const bodyBytes = 490_000;
const rounds = 3;

/**
 * Speed, delay and size of the main job, all against R: one COPY of the same events into the same
 * partition with the same indexes, in rows a second.
 *
 * Options: --events FILE (NDJSON, .gz too; made events without it), --seconds N of each phase
 * (default 15), --sustained N (default 60).
 */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      events: { type: "string" },
      seconds: { type: "string", default: "15" },
      sustained: { type: "string", default: "60" },
    },
  });
  const events = await loadEvents(values.events);
  const bench = await startBenchStack();
  try {
    await measure(bench, events, Number(values.seconds), Number(values.sustained));
  } finally {
    await bench.stop();
  }
}

async function measure(
  bench: BenchStack,
  events: Event[],
  seconds: number,
  sustainedSeconds: number,
): Promise<void> {
  const { sql, state } = bench;
  const bodies = makeBodies(events, bodyBytes);
  const key = await createKey(bench, "bench");
  // What is sent here is more than smaller plans allow in a month.
  await sql`update app.tenants set plan_id = 'enterprise' where tenant_id = 'bench'`;
  const send = (body: Uint8Array) => post(`${state.url}/functions/v1/ingest`, key, body);
  const nth = (n: number) => bodies[n % bodies.length];

  step("Warming up");
  await load({ connections: 4, seconds: 3 }, (n) => send(nth(n).stamped()));
  await drain(bench);
  await sql`truncate app.logs`;
  const memoryBefore = await memory(state);

  // In turns and by their medians: other work on the machine then weighs on all of them alike.
  const rates = { acknowledged: [] as number[], writer: [] as number[] };
  const peers = { copy: [] as number[], bulk: [] as number[] };
  const failures: [number, number][] = [];
  let bytesRatio = 0;
  await pauseWriter(bench);
  for (let round = 1; round <= rounds; round++) {
    step(`Round ${round} of ${rounds}: acknowledged over HTTP, writer paused`);
    const acknowledged = await load(
      { connections: 4, seconds: seconds / rounds },
      (n) => send(nth(n).stamped()),
    );
    failures.push(...acknowledged.failures);
    rates.acknowledged.push(countEvents(acknowledged, bodies) / acknowledged.seconds);

    step("  writer, queue to partitions");
    await sql`checkpoint`;
    const writerSeconds = await drain(bench);
    const [{ events: writtenEvents }] = await sql<{ events: number }[]>`
      select count(*)::integer as events from app.logs`;
    rates.writer.push(writtenEvents / writerSeconds);
    const [{ bytes: partitionBytes }] = await sql<{ bytes: number }[]>`
      select sum(pg_total_relation_size(inhrelid))::float8 as bytes
      from pg_inherits where inhparent = 'app.logs'::regclass`;
    bytesRatio = Math.max(bytesRatio, partitionBytes / countBytes(acknowledged, bodies));

    step("  COPY of the same events");
    peers.copy.push(await copy(bench));
    await sql`truncate app.logs`;

    step("  PostgREST bulk insert into a copy of the table");
    peers.bulk.push(await bulkInsert(bench, events, seconds / rounds));
  }
  const copyRate = percentile(peers.copy, 0.5);
  const bulkRate = percentile(peers.bulk, 0.5);
  const acknowledgedRate = percentile(rates.acknowledged, 0.5);
  const writerRate = percentile(rates.writer, 0.5);

  step("One-event requests");
  await resumeWriter(bench);
  const single = new TextEncoder().encode(JSON.stringify(events[0]));
  const singles = await load({ connections: 16, seconds }, () => send(single));
  await drain(bench);
  await sql`truncate app.logs`;

  step(`Sustained for ${sustainedSeconds} s`);
  const eventsPerBody = bodies.reduce((sum, body) => sum + body.events, 0) / bodies.length;
  const memoryEarly: Map<string, number>[] = [];
  const earlySample = setTimeout(
    async () => memoryEarly.push(await memory(state)),
    sustainedSeconds * 250,
  );
  // A little more than it has to hold.
  const target = 0.355 * copyRate / eventsPerBody;
  const began = performance.now();
  let acknowledgedEvents = 0;
  const samples: Sample[] = [];
  const probe = setInterval(async () => {
    const acknowledged = acknowledgedEvents;
    const seconds = (performance.now() - began) / 1000;
    samples.push({ seconds, acknowledged, depth: await queueDepth(bench) });
  }, 250);
  const sustained = await load(
    { connections: 4, seconds: sustainedSeconds, pause: pace(target) },
    async (n) => {
      const answer = await send(nth(n).stamped());
      if (answer.status === 200) acknowledgedEvents += nth(n).events;
      return answer;
    },
  );
  clearInterval(probe);
  clearTimeout(earlySample);
  const memoryAfter = await memory(state);
  await drain(bench);
  const [{ stored }] = await sql<{ stored: number }[]>`
    select count(*)::integer as stored from app.logs`;
  const steady = samples.filter(({ seconds }) => seconds >= 5);
  const visibleRate = rateOfVisible(steady);

  step("Acknowledged to visible, at half the sustained rate");
  const delays = await measureDelays(bench, key, bodies, visibleRate / 2 / eventsPerBody, seconds);

  failures.push(...singles.failures, ...sustained.failures);
  const quarters = [0, 1, 2, 3].map((n) => {
    const part = steady.slice(n * steady.length / 4, (n + 1) * steady.length / 4);
    return average(part.map(({ depth }) => depth));
  });
  const figures: Figure[] = [
    { name: "R: COPY, rows/s", value: thousands(copyRate) },
    atLeast("acknowledged events/s, 4 connections", acknowledgedRate, copyRate, "R", 0.45),
    atLeast("… against a PostgREST bulk insert", acknowledgedRate, bulkRate, "bulk insert", 0.75),
    atLeast("writer events/s, queue to partitions", writerRate, copyRate, "R", 0.7),
    atLeast("sustained and visible events/s", visibleRate, copyRate, "R", 0.35),
    {
      name: "… stored in the end, of those acknowledged",
      value: `${thousands(stored)} of ${thousands(acknowledgedEvents)}`,
      limit: "all",
      holds: stored === acknowledgedEvents,
    },
    {
      name: "… queue depth by quarters of the time, events",
      value: quarters.map(thousands).join("; "),
      limit: "not growing",
      // A run of the writer takes a second's events at once, so depths differ by as much.
      holds: quarters[3] - quarters[0] <= visibleRate / 4,
    },
    atMost("acknowledged to visible, p95 ms", percentile(delays, 0.95), 2000),
    atMost("one-event requests, 16 connections, p99 ms", percentile(singles.latencies, 0.99), 50),
    { name: "… requests/s", value: thousands(singles.answered / singles.seconds) },
    {
      name: "partition bytes per byte of JSON",
      value: bytesRatio.toFixed(2),
      limit: "≤ 1.3",
      holds: bytesRatio <= 1.3,
    },
    {
      name: "answers other than 200",
      value: failures.map(([status, count]) => `${count} × ${status}`).join(", ") || "none",
      limit: "none",
      holds: failures.length === 0,
    },
  ];
  printFigures("Ingest", figures);
  printFigures(
    "Memory, MiB: at the start, early and late in the sustained run",
    [...memoryAfter].map(([name, after]) => ({
      name,
      value: [memoryBefore.get(name), memoryEarly[0]?.get(name), after]
        .map((size) => size === undefined ? "-" : size.toFixed(0)).join(", "),
    })),
  );
}

function step(text: string): void {
  console.error(`  ${text}`);
}

function atLeast(
  name: string,
  rate: number,
  base: number,
  baseName: string,
  least: number,
): Figure {
  return {
    name,
    value: `${thousands(rate)} = ${ratio(rate, base)} ${baseName}`,
    limit: `≥ ${least} ${baseName}`,
    holds: rate / base >= least,
  };
}

function atMost(name: string, value: number, most: number): Figure {
  return { name, value: value.toFixed(0), limit: `≤ ${most}`, holds: value <= most };
}

interface Sample {
  seconds: number;
  /** Events acknowledged so far. */
  acknowledged: number;
  /** Events in the queue. */
  depth: number;
}

/** Events that became visible in a second: what was acknowledged and is not in the queue. */
function rateOfVisible(samples: Sample[]): number {
  const [first, last] = [samples[0], samples[samples.length - 1]];
  const visible = last.acknowledged - last.depth - (first.acknowledged - first.depth);
  return visible / (last.seconds - first.seconds);
}

function average(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);
}

function countEvents(done: Load, bodies: Body[]): number {
  return sumOfFirst(done.answered, bodies.map((body) => body.events));
}

function countBytes(done: Load, bodies: Body[]): number {
  return sumOfFirst(done.answered, bodies.map(({ bytes }) => bytes));
}

/** Requests take the bodies in turn, so that `count` of them are whole turns and a rest. */
function sumOfFirst(count: number, values: number[]): number {
  const turns = Math.floor(count / values.length);
  const sum = (part: number[]) => part.reduce((total, value) => total + value, 0);
  return turns * sum(values) + sum(values.slice(0, count % values.length));
}

function post(url: string, key: string, body: Uint8Array): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: body as BodyInit,
  });
}

/** A key of a tenant on the largest plan: no limit of the smaller ones is what is measured. */
async function createKey(bench: BenchStack, tenant: string): Promise<string> {
  const response = await fetch(`${bench.state.url}/rest/v1/rpc/create_api_key`, {
    method: "POST",
    headers: { authorization: `Bearer ${serviceRoleKey}`, "content-type": "application/json" },
    body: JSON.stringify({ p_tenant_id: tenant, p_name: "bench" }),
  });
  await bench.sql`update app.tenants set plan_id = 'enterprise' where tenant_id = ${tenant}`;
  return (await response.json()).key_value;
}

async function pauseWriter({ sql }: BenchStack): Promise<void> {
  // Else the ingest function would step in for the silent writer.
  await sql`update private.settings set writer_guard_silence = '1 hour' where singleton`;
  await sql`update cron.job set active = false where jobname = 'write_logs'`;
  // A run that has begun ends: it holds the writer's lock step by step, so wait for its heartbeat.
  await sql`call private.write_logs()`;
}

async function resumeWriter({ sql }: BenchStack): Promise<void> {
  await sql`update cron.job set active = true where jobname = 'write_logs'`;
}

async function queueDepth({ sql }: BenchStack): Promise<number> {
  const [{ depth }] = await sql<{ depth: number }[]>`
    select (private.queue_state()).depth::float8 as depth`;
  return depth;
}

/** Runs the writer until the queue is empty; the seconds it took. */
async function drain(bench: BenchStack): Promise<number> {
  const started = performance.now();
  while (await queueDepth(bench) > 0) await bench.sql`call private.write_logs()`;
  return (performance.now() - started) / 1000;
}

/** Rows a second of one COPY of all records into an empty partition with the same indexes. */
async function copy({ sql }: BenchStack): Promise<number> {
  const [{ folder }] = await sql<{ folder: string }[]>`
    select current_setting('data_directory') as folder`;
  const file = `${folder}/bench.copy`;
  const [{ partition }] = await sql<{ partition: string }[]>`
    select private.partition_name(private.utc_day(now())) as partition`;
  // In the order of receipt, as a client that copies would send them.
  const { count } = await sql.unsafe(
    `copy (select * from app.${partition} order by received_at, id) to '${file}'`,
  );
  await sql.unsafe(`truncate app.${partition}`);
  await sql`checkpoint`;
  const started = performance.now();
  await sql.unsafe(`copy app.${partition} from '${file}'`);
  const seconds = (performance.now() - started) / 1000;
  await sql.unsafe(`copy (select) to program 'rm ${file}'`);
  await sql.unsafe(`truncate app.${partition}`);
  return count / seconds;
}

/** Events a second of plain PostgREST inserts, 4 connections, bodies of the same size. */
async function bulkInsert(bench: BenchStack, events: Event[], seconds: number): Promise<number> {
  const { sql, state } = bench;
  await sql.unsafe(`
    create table public.bench_logs (like app.logs including all);
    alter table public.bench_logs
      alter id set default gen_random_uuid(), alter tenant_id set default 'bench',
      alter received_at set default now(), alter arrival set default 1;
    grant insert on public.bench_logs to service_role;
    notify pgrst, 'reload schema';
  `);
  const columns = [
    "ts",
    "level",
    "msg",
    "service",
    "env",
    "req_id",
    "user_id",
    "route",
    "host",
    "attrs",
  ];
  const bodies = makeBodies(events, bodyBytes);
  const url = `${state.url}/rest/v1/bench_logs?columns=${columns.join(",")}`;
  const insert = (body: Uint8Array) =>
    fetch(url, {
      method: "POST",
      headers: {
        authorization: `Bearer ${serviceRoleKey}`,
        "content-type": "application/json",
        prefer: "return=minimal",
      },
      body: body as BodyInit,
    }).then((answer) =>
      new Response(null, { status: answer.status === 201 ? 200 : answer.status })
    );
  while ((await insert(new TextEncoder().encode("[]"))).status !== 200) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const done = await load(
    { connections: 4, seconds },
    (n) => insert(bodies[n % bodies.length].stamped()),
  );
  await sql`drop table public.bench_logs`;
  await sql`notify pgrst, 'reload schema'`;
  return countEvents(done, bodies) / done.seconds;
}

/** Milliseconds from the answer to a marked event until it is in its partition. */
async function measureDelays(
  bench: BenchStack,
  key: string,
  bodies: Body[],
  requestsPerSecond: number,
  seconds: number,
): Promise<number[]> {
  const { sql, state } = bench;
  const url = `${state.url}/functions/v1/ingest`;
  const background = load(
    { connections: 4, seconds, pause: pace(requestsPerSecond) },
    (n) => post(url, key, bodies[n % bodies.length].stamped()),
  );
  const delays: number[] = [];
  const end = performance.now() + seconds * 1000;
  const encoder = new TextEncoder();
  const probe = async (probeNumber: number) => {
    for (let n = 0; performance.now() < end; n++) {
      const mark = `mark-${probeNumber}-${n}`;
      const ts = new Date();
      const body = encoder.encode(JSON.stringify({ ts: ts.toISOString(), msg: mark }));
      await (await post(url, key, body)).body?.cancel();
      const answered = performance.now();
      const isVisible = async () => {
        const [{ visible }] = await sql<{ visible: boolean }[]>`
          select exists (
            select from app.logs l
            where l.tenant_id = 'bench' and l.ts = ${ts} and l.msg = ${mark}
          ) as visible`;
        return visible;
      };
      while (!(await isVisible())) await new Promise((resolve) => setTimeout(resolve, 20));
      delays.push(performance.now() - answered);
    }
  };
  await Promise.all([0, 1, 2].map(probe));
  await background;
  if (delays.length === 0) throw new Error("no marked event became visible");
  return delays;
}
