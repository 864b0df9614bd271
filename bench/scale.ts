import { parseArgs } from "node:util";
import postgres from "postgres";
import { userToken } from "../local/signing_keys.ts";
import { Failure } from "../local/exit_on_failure.ts";
import { apiPoolSize } from "../local/stack.ts";
import { findSystem } from "../local/system.ts";
import { drawnAnew } from "./support/unique_events.ts";
import { type Body, type Event, loadEvents, makeBodies } from "./support/events.ts";
import { countEvents, createKey, post } from "./ingest/requests.ts";
import { pauseWriter, queueDepth } from "./ingest/writer.ts";
import { load } from "./support/load.ts";
import { processorSeconds, used } from "./support/processor.ts";
import { type Figure, percentile, printFigures, ratio } from "./support/report.ts";
import { type BenchStack, startBenchStack, step } from "./support/stack.ts";

const largeTenant = "bench";

interface Measured {
  workers: number;
  /** Microseconds of processor time for each moved event, of all nodes and of the first. */
  writer: number;
  writerFirst: number;
  /** Milliseconds of processor time and of waiting for each query, of all nodes, by question. */
  queries: { processor: number; median: number }[];
  /** The fullest node's share of the records, and of their bytes. */
  records: number;
  bytes: number;
  mebibytes: number;
}

/**
 * Measures the costs of sharding records over nodes: the processor time of writer and searches on a single server and on
 * a coordinator with 2 and 3 workers, in turns, and how evenly the workers are filled. Needs a PostgreSQL with Citus
 * (LOGLOOM_POSTGRES), and the stacks bench, scratch and test.
 *
 * Options: --events FILE, --tenants N (default 1000), --scale N (events of all tenants in each of
 * five rounds of the writer, default 120000), --runs N (calls of a question, default 50).
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
    throw new Failure("Citus is not installed: docs/guides/scaling.md says how to try it.");
  }
  const events = await loadEvents(values.events);
  const [tenants, scale, runs] = [values.tenants, values.scale, values.runs].map(Number);
  const contestants: Contestant[] = [];
  await using stacks = new AsyncDisposableStack();
  for (const [workers, name] of [[0, "bench"], [2, "scratch"], [3, "test"]] as const) {
    const bench = stacks.use(await startBenchStack(undefined, workers, name));
    contestants.push({ workers, bench, writer: [], writerFirst: [], keys: [], ownKey: "" });
  }
  print(await measure(contestants, events, tenants, scale, runs));
}

/**
 * A contestant: one server, or a coordinator with workers. All take turns, so that other work on the machine affects
 * all alike.
 */
interface Contestant {
  workers: number;
  bench: BenchStack;
  writer: number[];
  writerFirst: number[];
  keys: string[];
  ownKey: string;
}

async function measure(
  contestants: Contestant[],
  events: Event[],
  tenants: number,
  scale: number,
  runs: number,
): Promise<Measured[]> {
  for (const contestant of contestants) {
    await pauseWriter(contestant.bench);
    await countNothingElse(contestant);
    for (let n = 0; n < tenants; n++) {
      contestant.keys.push(await createKey(contestant.bench, `tenant-${n}`));
    }
    contestant.ownKey = await createKey(contestant.bench, largeTenant);
  }
  const ingest = async (
    { bench }: Contestant,
    bodies: Body[],
    count: number,
    key: (n: number) => string,
  ) => {
    const done = await load(
      { connections: 4, seconds: 600, count },
      (n) =>
        post(`${bench.state.url}/functions/v1/ingest`, key(n), bodies[n % bodies.length].stamped()),
    );
    return countEvents(done, bodies);
  };

  step(`writer, ${tenants} tenants`);
  const bodies = bodiesOf(drawnAnew(events, scale), Math.ceil(scale / tenants));
  for (let round = 0; round < 5; round++) {
    for (const contestant of contestants) {
      const { bench, keys, writer, writerFirst } = contestant;
      const sent = await ingest(contestant, bodies, bodies.length, (n) => keys[n % keys.length]);
      await bench.sql`checkpoint`;
      // Makes a checkpoint on each node, so that no node still writes an earlier round's changes.
      if (contestant.workers > 0) await bench.sql`select run_command_on_workers('checkpoint')`;
      const spent = await drainCounted(bench);
      // The first round creates the records for later rounds and is not measured.
      if (round === 0) continue;
      writer.push(sum(spent) * 1e6 / sent);
      writerFirst.push((spent.get("postgres") ?? 0) * 1e6 / sent);
    }
  }

  step("searches of one tenant");
  const measured: Measured[] = [];
  for (const contestant of contestants) {
    const { workers, bench, ownKey, writer, writerFirst } = contestant;
    measured.push({
      workers,
      writer: percentile(writer, 0.5),
      writerFirst: percentile(writerFirst, 0.5),
      queries: [],
      ...await shares(bench),
    });
    await ingest(contestant, bodies, Math.ceil(bodies.length / 2), () => ownKey);
    await drainCounted(bench);
    await bench.sql`vacuum (analyze) logloom.logs`;
  }
  for (const question of questions) {
    const spent = contestants.map(() => ({ processor: 0, times: [] as number[] }));
    // Warms up: caches pages, and plans on each connection of PostgREST.
    for (const { bench } of contestants) {
      for (let n = 0; n < 2 * apiPoolSize; n++) await ask(bench, question);
    }
    for (let turn = 0; turn < 5; turn++) {
      for (const [place, { bench }] of contestants.entries()) {
        const before = await processorSeconds(bench.stack);
        for (let n = 0; n < runs / 5; n++) spent[place].times.push(await ask(bench, question));
        spent[place].processor += sum(used(before, await processorSeconds(bench.stack)));
      }
    }
    for (const [place, { processor, times }] of spent.entries()) {
      measured[place].queries.push({
        processor: processor * 1000 / times.length,
        median: percentile(times, 0.5),
      });
    }
  }
  return measured;
}

/** Stops jobs and autovacuum, so that only the measured work counts. */
async function countNothingElse({ bench: { sql }, workers }: Contestant): Promise<void> {
  await sql`update cron.job set active = false where active`;
  await sql`alter system set autovacuum = off`;
  await sql`select pg_reload_conf()`;
  if (workers === 0) return;
  await sql`select run_command_on_workers('alter system set autovacuum = off')`;
  await sql`select run_command_on_workers('select pg_reload_conf()')`;
}

/** Asks a question as the large tenant and returns the time of the answer. */
async function ask(
  { state }: BenchStack,
  [operation, query]: typeof questions[number],
): Promise<number> {
  const began = performance.now();
  const response = await fetch(`${state.url}/rest/v1/rpc/${operation}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${userToken("bench-user", largeTenant)}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({ p_query_dsl: query }),
  });
  const text = await response.text();
  if (!response.ok) throw new Failure(`${operation} answered ${response.status}: ${text}`);
  return performance.now() - began;
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

/** Runs the writer until the queue is empty; returns the processor time of each node. */
async function drainCounted(bench: BenchStack): Promise<Map<string, number>> {
  // Connects as the service's owner, like the job, because nodes log in to each other as this user.
  const owner = postgres(bench.stack.databaseUrl, { max: 1, onnotice: () => {} });
  try {
    const before = await processorSeconds(bench.stack);
    while (await queueDepth(bench) > 0) await owner`call logloom_private.run_job('write_logs')`;
    return used(before, await processorSeconds(bench.stack));
  } finally {
    await owner.end();
  }
}

async function shares(
  { sql }: BenchStack,
): Promise<Pick<Measured, "records" | "bytes" | "mebibytes">> {
  const [{ isSharded }] = await sql`
    select exists (select from pg_extension where extname = 'citus') as "isSharded"`;
  if (!isSharded) {
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
  const [plain, ...sharded] = measured;
  const figures: Figure[] = [
    { name: "writer on one server, µs of processor an event", value: plain.writer.toFixed(1) },
    ...questions.map(([operation, query], n) => ({
      name: `${operation} ${query}, ms of processor (median answer)`,
      value: `${plain.queries[n].processor.toFixed(1)} (${plain.queries[n].median.toFixed(1)})`,
    })),
    { name: "records on one server, MB", value: plain.mebibytes.toFixed(0) },
  ];
  for (const { workers, writer, writerFirst, queries, records, bytes, mebibytes } of sharded) {
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
  printFigures("Records on one server and sharded over nodes", figures);
}
