import { parseArgs } from "node:util";
import postgres from "postgres";
import { userToken } from "../local/keys.ts";
import { Failure } from "../local/failure.ts";
import { apiPoolSize } from "../local/stack.ts";
import { findSystem } from "../local/system.ts";
import { drawnAnew } from "./support/drawn_anew.ts";
import { type Body, type Event, loadEvents, makeBodies } from "./support/events.ts";
import { countEvents, createKey, post } from "./ingest/requests.ts";
import { pauseWriter, queueDepth } from "./ingest/writer.ts";
import { load } from "./support/load.ts";
import { processorSeconds, used } from "./support/processor.ts";
import { type Figure, percentile, printFigures, ratio } from "./support/report.ts";
import { type BenchStack, startBenchStack } from "./support/stack.ts";

const largeTenant = "bench";

interface Measured {
  workers: number;
  /** Microseconds of processor time an event that the writer moved, of all nodes and of the first. */
  writer: number;
  writerFirst: number;
  /** Milliseconds of processor time a query, of all nodes, and of waiting, by question. */
  queries: { processor: number; median: number }[];
  /** The largest share of the records, and of their bytes, that a node has. */
  records: number;
  bytes: number;
  mebibytes: number;
}

/**
 * What it costs to spread records over nodes: the writer's and the searches' processor time on a
 * single server and on a coordinator with 2 and 3 workers, one after another, and how evenly the
 * workers are filled. Needs a PostgreSQL with Citus (LOGLOOM_POSTGRES).
 *
 * Options: --events FILE, --tenants N (default 1000), --scale N (events of all tenants in each of
 * the three rounds of the writer, default 120000), --runs N (calls of a question, default 50).
 */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      events: { type: "string" },
      tenants: { type: "string", default: "1000" },
      scale: { type: "string", default: "120000" },
      runs: { type: "string", default: "50" },
    },
  });
  if (!(await findSystem())?.hasCitus) {
    throw new Failure("Citus is not installed: docs/scaling.md says how to try it.");
  }
  const events = await loadEvents(values.events);
  const measured: Measured[] = [];
  for (const workers of [0, 2, 3]) {
    const bench = await startBenchStack(undefined, workers);
    try {
      measured.push({
        workers,
        ...await measure(
          bench,
          events,
          Number(values.tenants),
          Number(values.scale),
          Number(values.runs),
        ),
      });
    } finally {
      await bench.stop();
    }
  }
  print(measured);
}

async function measure(
  bench: BenchStack,
  events: Event[],
  tenants: number,
  scale: number,
  runs: number,
): Promise<Omit<Measured, "workers">> {
  const { sql, stack, state } = bench;
  await pauseWriter(bench);
  // Nothing else is to be counted.
  await sql`update cron.job set active = false where active`;
  const names = Array.from({ length: tenants }, (_, n) => `tenant-${n}`);
  const keys: string[] = [];
  for (const name of names) keys.push(await createKey(bench, name));
  const ownKey = await createKey(bench, largeTenant);
  const url = `${state.url}/functions/v1/ingest`;
  const ingest = async (bodies: Body[], count: number, key: (n: number) => string) => {
    const done = await load(
      { connections: 4, seconds: 600, count },
      (n) => post(url, key(n), bodies[n % bodies.length].stamped()),
    );
    return countEvents(done, bodies);
  };

  step(`writer, ${tenants} tenants`);
  const bodies = bodiesOf(drawnAnew(events, scale), Math.ceil(scale / tenants));
  const writer: number[] = [];
  const writerFirst: number[] = [];
  for (let round = 0; round < 3; round++) {
    const sent = await ingest(bodies, bodies.length, (n) => keys[n % keys.length]);
    await sql`checkpoint`;
    const spent = await drainCounted(bench);
    writer.push(sum(spent) * 1e6 / sent);
    writerFirst.push((spent.get("postgres") ?? 0) * 1e6 / sent);
  }
  const share = await shares(bench);

  step("searches of one tenant");
  await ingest(bodies, Math.ceil(bodies.length / 2), () => ownKey);
  await drainCounted(bench);
  await sql`analyze logloom.logs`;
  const token = userToken("bench-user", largeTenant);
  const queries = [];
  for (const [operation, query] of questions) {
    const ask = async () => {
      const began = performance.now();
      const response = await fetch(`${state.url}/rest/v1/rpc/${operation}`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ p_query_dsl: query }),
      });
      const text = await response.text();
      if (!response.ok) throw new Failure(`${operation} answered ${response.status}: ${text}`);
      return performance.now() - began;
    };
    // Pages are there, and plans on each connection that PostgREST takes in turn.
    for (let n = 0; n < 2 * apiPoolSize; n++) await ask();
    const before = await processorSeconds(stack);
    const times = [];
    for (let n = 0; n < runs; n++) times.push(await ask());
    queries.push({
      processor: sum(used(before, await processorSeconds(stack))) * 1000 / runs,
      median: percentile(times, 0.5),
    });
  }
  return {
    writer: percentile(writer, 0.5),
    writerFirst: percentile(writerFirst, 0.5),
    queries,
    ...share,
  };
}

const questions = [
  ["search_logs", "level:error"],
  ["search_logs", '"no such phrase"'],
  ["log_stats", 'msg:"/image" | count() by service'],
  ["log_histogram", "*"],
] as const;

function* chunks(events: Iterable<Event>, size: number): Generator<Event[]> {
  let chunk: Event[] = [];
  for (const event of events) {
    chunk.push(event);
    if (chunk.length < size) continue;
    yield chunk;
    chunk = [];
  }
}

function bodiesOf(events: Iterable<Event>, size: number): Body[] {
  return [...chunks(events, size)].map((chunk) => makeBodies(chunk, 490_000)[0]);
}

/** Runs the writer until the queue is empty; the processor time of each node. */
async function drainCounted(bench: BenchStack): Promise<Map<string, number>> {
  // As the job does, so that one node logs in to another as the service's owner.
  const owner = postgres(bench.stack.databaseUrl, { max: 1, onnotice: () => {} });
  try {
    const before = await processorSeconds(bench.stack);
    while (await queueDepth(bench) > 0) await owner`call logloom_private.write_logs()`;
    return used(before, await processorSeconds(bench.stack));
  } finally {
    await owner.end();
  }
}

async function shares(
  { sql }: BenchStack,
): Promise<Pick<Measured, "records" | "bytes" | "mebibytes">> {
  const [{ isSpread }] = await sql`
    select exists (select from pg_extension where extname = 'citus') as "isSpread"`;
  if (!isSpread) {
    const [{ bytes }] = await sql`
      select sum(pg_total_relation_size(inhrelid))::float8 as bytes
      from pg_inherits where inhparent = 'logloom.logs'::regclass`;
    return { records: 1, bytes: 1, mebibytes: bytes / 2 ** 20 };
  }
  const measureNodes = async (query: string) => {
    const rows = await sql`
      select p.nodeport, sum(r.result::float8) as value
      from pg_inherits i
      cross join lateral run_command_on_shards(i.inhrelid, ${query}) r
      join pg_dist_shard_placement p on p.shardid = r.shardid
      where i.inhparent = 'logloom.logs'::regclass
      group by 1`;
    const values = rows.map(({ value }) => value as number);
    const total = values.reduce((sum, value) => sum + value, 0);
    return { share: Math.max(...values) / total, total };
  };
  const records = await measureNodes("select count(*) from %s");
  const bytes = await measureNodes("select pg_total_relation_size('%s')");
  return { records: records.share, bytes: bytes.share, mebibytes: bytes.total / 2 ** 20 };
}

function sum(seconds: Map<string, number>): number {
  return [...seconds.values()].reduce((total, value) => total + value, 0);
}

function print(measured: Measured[]): void {
  const [plain, ...spread] = measured;
  const figures: Figure[] = [
    { name: "writer on one server, µs of processor an event", value: plain.writer.toFixed(1) },
    ...questions.map(([operation, query], n) => ({
      name: `${operation} ${query}, ms of processor (median answer)`,
      value: `${plain.queries[n].processor.toFixed(1)} (${plain.queries[n].median.toFixed(1)})`,
    })),
    { name: "records on one server, MB", value: plain.mebibytes.toFixed(0) },
  ];
  for (const { workers, writer, writerFirst, queries, records, bytes, mebibytes } of spread) {
    const at = `${workers} workers: `;
    figures.push(
      {
        name: `${at}writer, µs an event (of it the coordinator)`,
        value: `${writer.toFixed(1)} (${writerFirst.toFixed(1)}) = ${
          ratio(writer, plain.writer)
        } of one server`,
        limit: "≤ 1.4",
        holds: writer <= 1.4 * plain.writer,
      },
      ...questions.map(([operation, query], n) => ({
        name: `${at}${operation} ${query}, ms`,
        value: `${queries[n].processor.toFixed(1)} (${queries[n].median.toFixed(1)}) = ${
          ratio(queries[n].processor, plain.queries[n].processor)
        } of one server`,
        limit: "≤ 1.3",
        holds: queries[n].processor <= 1.3 * plain.queries[n].processor,
      })),
      {
        name: `${at}the fullest one's share of the records`,
        value: `${records.toFixed(3)} = ${ratio(records, 1 / workers)} / ${workers}`,
        limit: `≤ 1.1 / ${workers}`,
        holds: records <= 1.1 / workers,
      },
      {
        name: `${at}its share of the bytes; all, MB`,
        value: `${bytes.toFixed(3)}; ${mebibytes.toFixed(0)}`,
      },
    );
  }
  printFigures("Records on one server and spread over nodes", figures);
}

function step(text: string): void {
  console.error(`  ${text}`);
}
