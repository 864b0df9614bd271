import { parseArgs } from "node:util";
import { userToken } from "../local/keys.ts";
import { createKey } from "./ingest/requests.ts";
import { loadEvents } from "./support/events.ts";
import { load } from "./support/load.ts";
import { secondsByProcess, used } from "./support/processor.ts";
import { type Figure, percentile, printFigures, ratio, thousands } from "./support/report.ts";
import { type BenchStack, startBenchStack } from "./support/stack.ts";

const tenant = "bench";
const wantedRate = 5000;
const wantedRatio = 1.2;

/**
 * Records a second of a log stream that has a backlog, what that takes of the processor, how far a stream is behind that
 * is not; and what twenty streams cost others whose receiver never answers.
 *
 * Options: --records N (default 200000), --seconds N of each measurement beside them (default 15).
 */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      records: { type: "string", default: "200000" },
      seconds: { type: "string", default: "15" },
    },
  });
  Deno.env.set("LOGLOOM_ALLOW_LOCAL_WEBHOOKS", "1");
  const bench = await startBenchStack();
  try {
    const records = Number(values.records);
    await fill(bench, records);
    printFigures(`A log stream, ${thousands(records)} records`, await backlog(bench, records));
    // So that each measurement sees many batches.
    await bench.sql`update logloom_private.settings set stream_interval = '1 second'`;
    const beside = await besideHanging(bench, Number(values.seconds));
    printFigures("Beside twenty streams to a receiver that never answers", beside);
  } finally {
    await bench.stop();
  }
}

/** Records of the last hours, in steps of the writer of 20,000, one step after another on the disk. */
async function fill(bench: BenchStack, count: number): Promise<void> {
  const { sql } = bench;
  await createKey(bench, tenant);
  const events = await loadEvents(undefined);
  await sql.begin(async (sql) => {
    await sql`create temporary table events as
      select e.event, row_number() over () as n
      from jsonb_array_elements(${JSON.stringify(events)}::text::jsonb) e (event)`;
    const [{ insert }] = await sql`
      select logloom_private.added_records_sql(format(
        'insert into logloom.logs as l (id, tenant_id, ts, received_at, write_seq, record_bytes, %s)
         select gen_random_uuid(), %L, date_trunc(''day'', now(), ''UTC'') + c.n * interval ''1 ms'',
           now(), 1 + c.n / 20000, octet_length(e.event::text), %s
         from generate_series(1, %s) c (n)
         join events e on e.n = 1 + c.n %% %s
         cross join jsonb_populate_record(null::logloom.logs, e.event - ''ts'') p
         order by c.n',
        logloom_private.written_fields_sql('%1$s'), ${tenant}::text,
        logloom_private.written_fields_sql('p.%1$s'), ${count}::integer, ${events.length}::integer
      )) as insert`;
    await sql.unsafe(insert);
    await sql`select setval('logloom_private.write_seq', ${2 + Math.floor(count / 20_000)})`;
  });
  // As autovacuum leaves it: the index on write_seq knows all pages.
  await sql`vacuum (analyze) logloom.logs`;
}

/** A stream that begins with the first record, by the operator's hand. */
async function addStream(
  { sql }: BenchStack,
  tenantId: string,
  name: string,
  url: string,
  position: "first" | "next",
): Promise<void> {
  await sql`
    insert into logloom.log_streams (tenant_id, name, kind, config, position_seq, pending_since)
    values (
      ${tenantId}, ${name}, 'webhook', ${JSON.stringify({ url })}::text::jsonb,
      case ${position}::text when 'first' then 1 else logloom_private.last_write_seq() + 1 end,
      case ${position}::text when 'first' then now() end
    )`;
}

async function backlog(bench: BenchStack, count: number): Promise<Figure[]> {
  let batches = 0;
  const receiver = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      await request.arrayBuffer();
      batches++;
      return new Response();
    },
  );
  const before = await secondsByProcess(bench.stack);
  const began = performance.now();
  await addStream(bench, tenant, "backlog", `http://127.0.0.1:${receiver.addr.port}`, "first");
  for (;;) {
    const [{ sent }] = await bench.sql`
      select sent_records::integer as sent from logloom.log_streams where name = 'backlog'`;
    if (sent >= count) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const seconds = (performance.now() - began) / 1000;
  const taken = used(before, await secondsByProcess(bench.stack));
  await receiver.shutdown();
  await bench.sql`delete from logloom.log_streams where name = 'backlog'`;
  const rate = count / seconds;
  const ms = (process: string) => `${((taken.get(process) ?? 0) * 1e6 / count).toFixed(1)} ms`;
  return [
    {
      name: "one stream with a backlog",
      value: `${thousands(rate)} records/s, ${batches} batches`,
      limit: `≥ ${thousands(wantedRate)} records/s`,
      holds: rate >= wantedRate,
    },
    {
      name: "processor for a thousand records",
      value: `function ${ms("logloom-stream")}, PostgreSQL ${ms("postgres")}, ` +
        `PostgREST ${ms("postgrest")}`,
    },
  ];
}

/** Without and with twenty streams of another tenant to a receiver that never answers, in turns. */
async function besideHanging(bench: BenchStack, seconds: number): Promise<Figure[]> {
  const { sql, state } = bench;
  const key = await createKey(bench, "neighbour");
  const received: number[] = [];
  const receiver = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const records = await request.json() as { ts: string }[];
      for (const { ts } of records) received.push(Date.now() - Date.parse(ts));
      return new Response();
    },
  );
  const silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const held: Deno.Conn[] = [];
  const holding = (async () => {
    for await (const conn of silent) held.push(conn);
  })();
  await addStream(
    bench,
    "neighbour",
    "watched",
    `http://127.0.0.1:${receiver.addr.port}`,
    "next",
  );
  const authorization = `Bearer ${userToken(crypto.randomUUID(), tenant)}`;
  const event = () => JSON.stringify([{ ts: new Date().toISOString(), msg: "beside" }]);
  const measure = async () => {
    received.length = 0;
    const pause = () => new Promise<void>((resolve) => setTimeout(resolve, 50));
    const [ingest, search] = await Promise.all([
      load({ connections: 2, seconds, pause }, () =>
        fetch(`${state.url}/functions/v1/ingest`, {
          method: "POST",
          headers: { "x-api-key": key, "content-type": "application/json" },
          body: event(),
        })),
      load({ connections: 2, seconds, pause }, () =>
        fetch(`${state.url}/rest/v1/rpc/search_logs`, {
          method: "POST",
          headers: { authorization, "content-type": "application/json" },
          body: JSON.stringify({ p_query_dsl: "level:error", p_ts_from: "now-24h", p_limit: 100 }),
        })),
    ]);
    return { ingest: ingest.latencies, search: search.latencies, lag: [...received] };
  };
  const alone = { ingest: [] as number[], search: [] as number[], lag: [] as number[] };
  const beside = { ingest: [] as number[], search: [] as number[], lag: [] as number[] };
  for (const turn of [alone, beside, alone, beside]) {
    if (turn === beside) {
      for (let n = 0; n < 20; n++) {
        await addStream(bench, tenant, `hangs ${n}`, addressOf(silent), "first");
      }
    }
    const { ingest, search, lag } = await measure();
    turn.ingest.push(...ingest);
    turn.search.push(...search);
    turn.lag.push(...lag);
    await sql`delete from logloom.log_streams where name like 'hangs %'`;
  }
  await receiver.shutdown();
  silent.close();
  await holding.catch(() => {});
  for (const conn of held) conn.close();
  return (["ingest", "search", "lag"] as const).map((what) => {
    const [before, after] = [percentile(alone[what], 0.95), percentile(beside[what], 0.95)];
    return {
      name: `${
        what === "lag" ? "event to receiver of another stream" : what
      } beside twenty that hang, p95`,
      value: `${after.toFixed(0)} ms (${before.toFixed(0)} alone, ${ratio(after, before)})`,
      limit: `≤ ${wantedRatio}`,
      holds: after / before <= wantedRatio,
    };
  });
}

function addressOf({ addr }: Deno.TcpListener): string {
  return `http://127.0.0.1:${addr.port}`;
}
