import { parseArgs } from "node:util";
import { userToken } from "../local/keys.ts";
import { drawnAnew } from "./support/drawn_anew.ts";
import { loadEvents } from "./support/events.ts";
import { processorSeconds } from "./support/processor.ts";
import { percentile, printFigures, ratio, thousands } from "./support/report.ts";
import { type BenchStack, startBenchStack } from "./support/stack.ts";

const tenant = "bench";

type Parameters = Record<string, string | number>;

/** Milliseconds of a question: p95 over HTTP, and PostgreSQL's processor time a call. */
interface Measured {
  p95: number;
  processor: number;
}

/**
 * A day of records as rows and as chunks, in one run: size, speed of sealing, and speed of reading
 * over HTTP. No record repeats another.
 *
 * Options: --events FILE (NDJSON, .gz too; made events without it), --scale N (records of the day,
 * default 1000000), --runs N (calls of a question, default 20).
 */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      events: { type: "string" },
      scale: { type: "string", default: "1000000" },
      runs: { type: "string", default: "20" },
    },
  });
  const scale = Number(values.scale);
  const events = await loadEvents(values.events);
  const bench = await startBenchStack();
  try {
    const { sql } = bench;
    await sql`update logloom_private.settings set seal_after = '1000 days' where singleton`;
    await sql`insert into logloom.tenants (tenant_id, plan_id) values (${tenant}, 'pro')`;
    const [{ day }] = await sql`
      select (logloom_private.utc_day(now()) - 2)::text as day`;
    await sql`select logloom_private.create_partition(${day}::date)`;
    // A day without a record of anybody would be dropped.
    await sql`insert into logloom_private.log_days (tenant_id, day) values (${tenant}, ${day})`;
    const json = await fill(bench, drawnAnew(events, scale), day, scale);
    await sql`select logloom_private.recount_records(${day}::date)`;
    await sql`vacuum analyze logloom.logs`;
    const [{ bytes: rowBytes }] = await sql`
      select pg_total_relation_size(
        format('logloom.%I', logloom_private.partition_name(${day}::date))::regclass
      )::float8 as bytes`;
    const [{ id }] = await sql`
      select id from logloom.logs where tenant_id = ${tenant} order by ts offset ${
      Math.floor(scale / 2)
    } limit 1`;
    const asked = questions(day, id);
    const rows = await measure(bench, asked, Number(values.runs));

    const started = performance.now();
    for (;;) {
      const [{ sealed }] = await sql`
        select logloom_private.seal_chunk(${tenant}, array[${day}::date]) as sealed`;
      if (sealed === 0) break;
    }
    const seconds = (performance.now() - started) / 1000;
    await sql`select logloom_private.leave_sealed_days(${tenant}, array[${day}::date])`;
    await sql`vacuum analyze logloom_private.sealed_chunks`;
    await sql`vacuum analyze logloom_private.sealed_columns`;
    const [{ bytes: sealedBytes }] = await sql`
      select (pg_total_relation_size('logloom_private.sealed_chunks')
        + pg_total_relation_size('logloom_private.sealed_columns'))::float8 as bytes`;
    const sealed = await measure(bench, asked, Number(values.runs));

    printFigures(`A day of ${thousands(scale)} records, rows and sealed`, [
      { name: "bytes of JSON a record", value: (json / scale).toFixed(1) },
      { name: "bytes a record as rows, indexes included", value: (rowBytes / scale).toFixed(1) },
      {
        name: "bytes a record sealed, indexes included",
        value: (sealedBytes / scale).toFixed(1),
        limit: `0.11 of JSON: ${(0.11 * json / scale).toFixed(1)}`,
        holds: sealedBytes <= 0.11 * json,
      },
      {
        name: "records sealed a second, read back and compared",
        value: thousands(scale / seconds),
        limit: "60,000",
        holds: scale / seconds >= 60_000,
      },
      ...asked.map(({ name }, n) => ({
        name: `${name}, p95 in ms`,
        value: sealed[n].p95.toFixed(1),
        limit: `rows: ${rows[n].p95.toFixed(1)}, ratio ${ratio(sealed[n].p95, rows[n].p95)}`,
        holds: sealed[n].p95 <= rows[n].p95 + 10,
      })),
      ...asked.map(({ name }, n) => ({
        name: `${name}, processor time in ms`,
        value: sealed[n].processor.toFixed(1),
        limit: `rows: ${rows[n].processor.toFixed(1)}`,
        holds: sealed[n].processor <= rows[n].processor + 10,
      })),
    ]);
  } finally {
    await bench.stop();
  }
}

async function fill(
  { sql }: BenchStack,
  events: Iterable<Record<string, unknown>>,
  day: string,
  scale: number,
): Promise<number> {
  let bytes = 0;
  let at = 0;
  let batch: Record<string, unknown>[] = [];
  const flush = async () => {
    await sql`
      insert into logloom.logs (
        id, tenant_id, ts, received_at, arrival,
        level, msg, service, env, req_id, user_id, route, host, attrs
      )
      select
        overlay(e.key::text
          placing lpad(to_hex(e.n::integer - 1), 4, '0') from 33)::uuid,
        ${tenant}, e.ts, e.last + interval '300 milliseconds', ${1 + at / 1000}::bigint,
        e.event ->> 'level', e.event ->> 'msg', e.event ->> 'service', e.event ->> 'env',
        e.event ->> 'req_id', e.event ->> 'user_id', e.event ->> 'route', e.event ->> 'host',
        e.event -> 'attrs'
      from (
        select j.event, j.n, (j.event ->> 'ts')::timestamptz as ts,
          b.last, b.key
        from (
          -- Once: a batch has one key.
          select l.last, logloom_private.batch_key(l.last) as key
          from (select ${String(batch[batch.length - 1].ts)}::timestamptz as last) l
          offset 0
        ) b
        cross join jsonb_array_elements(${JSON.stringify(batch)}::text::jsonb)
          with ordinality j (event, n)
      ) e`;
    at += batch.length;
    batch = [];
  };
  let n = 0;
  for (const event of events) {
    const ts = new Date(Date.parse(`${day}T00:00:00Z`) + Math.floor(n++ * 86_399_000 / scale));
    const sent = { ts: ts.toISOString(), ...event };
    bytes += new TextEncoder().encode(JSON.stringify(sent)).length;
    batch.push(sent);
    if (batch.length === 1000) await flush();
  }
  if (batch.length > 0) await flush();
  return bytes;
}

interface Question {
  name: string;
  operation: string;
  parameters: Parameters;
}

function questions(day: string, id: string): Question[] {
  const end = new Date(Date.parse(day) + 86_400_000).toISOString();
  const ask = (name: string, operation: string, query: string, more: Parameters = {}) => ({
    name,
    operation,
    parameters: { p_query_dsl: query, p_ts_from: `${day}T00:00:00Z`, p_ts_to: end, ...more },
  });
  return [
    ask("phrase, count", "log_stats", '"failed password" | count()'),
    ask("level:error and phrase, count", "log_stats", 'level:error "failed password" | count()'),
    ask("attrs.status:>=500, count", "log_stats", "attrs.status:>=500 | count()"),
    ask("count by service", "log_stats", "| count() by service"),
    ask("p95 of a number by service", "log_stats", "| p95(attrs.bytes) by service"),
    ask("regex, count", "log_stats", 'msg:~"user=[a-z]+" | count()'),
    ask("newest 100, level and service", "search_logs", "level:error service:openssh"),
    ask("newest 100", "search_logs", ""),
    ask("newest 100 of a rare phrase", "search_logs", '"connection refused by upstream"'),
    ask("request id", "search_logs", "req_id:nowhere"),
    {
      name: "histogram by level",
      operation: "log_histogram",
      parameters: { p_ts_from: `${day}T00:00:00Z`, p_ts_to: end },
    },
    { name: "a record by its id", operation: "get_log", parameters: { p_id: id } },
  ];
}

async function measure(
  bench: BenchStack,
  asked: Question[],
  runs: number,
): Promise<Measured[]> {
  const token = userToken("11111111-1111-4111-8111-111111111111", tenant);
  const figures: Measured[] = [];
  const processor = async () =>
    1000 * [...await processorSeconds(bench.stack)].reduce((sum, [, seconds]) => sum + seconds, 0);
  for (const { name, operation, parameters } of asked) {
    const times: number[] = [];
    let before = 0;
    for (let run = 0; run <= runs; run++) {
      if (run === 1) before = await processor();
      const sent = performance.now();
      const response = await fetch(`${bench.state.url}/rest/v1/rpc/${operation}`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify(parameters),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${name}: ${text}`);
      // The first call warms.
      if (run > 0) times.push(performance.now() - sent);
    }
    figures.push({ p95: percentile(times, 0.95), processor: (await processor() - before) / runs });
  }
  return figures;
}
