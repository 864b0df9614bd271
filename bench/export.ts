import { parseArgs } from "node:util";
import { findRuntime, hostedVersion } from "../local/runtime.ts";
import { readState } from "../local/state.ts";
import type { Stack } from "../local/stack.ts";
import { createKey } from "./ingest/requests.ts";
import { userToken } from "../local/keys.ts";
import { loadEvents } from "./support/events.ts";
import { secondsByProcess } from "./support/processor.ts";
import { type Figure, percentile, printFigures } from "./support/report.ts";
import { type BenchStack, startBenchStack } from "./support/stack.ts";

const tenant = "bench";
/** Longer than any line of the records. */
const maxLine = 20_000;
const wantedRate = 50_000;
const wantedVolumeMs = 200;
const wantedMiB = 100;

/**
 * Records a second of an export to its end, of rows and of a sealed day, what the function takes meanwhile, and how long
 * Grafana's volume of the day is in coming, on the Deno of hosted functions.
 *
 * Options: --records N (default 1000000), --events FILE (NDJSON, .gz too; made events without it).
 */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { records: { type: "string", default: "1000000" }, events: { type: "string" } },
  });
  const runtime = await findRuntime(hostedVersion, (step) => console.error(`  ${step}`));
  const bench = await startBenchStack({ runtime, processes: 1 });
  try {
    const key = await fill(bench, Number(values.records), values.events);
    const figures = [
      await exported(bench, key, "rows, NDJSON", { format: "ndjson" }),
      await exported(bench, key, "rows, NDJSON, gzip", { format: "ndjson" }, "gzip"),
      await exported(bench, key, "rows, CSV of four columns", {
        format: "csv",
        query: "| fields level, service, msg",
      }),
      await exported(bench, key, "rows, CSV of all columns", { format: "csv" }),
      await volume(bench, key, "rows"),
    ];
    await bench.sql`update logloom_private.settings set seal_day_records = 1`;
    await bench.sql`
      select logloom_private.seal_block(${tenant}, array_agg(d.day))
      from logloom_private.log_days d where d.tenant_id = ${tenant}
      -- The job may have come first.
      having count(*) > 0`;
    const isRow = async () =>
      (await bench.sql`select from logloom.logs l where l.tenant_id = ${tenant} limit 1`).length >
        0;
    while (await isRow()) await new Promise((resolve) => setTimeout(resolve, 500));
    figures.push(await exported(bench, key, "sealed, NDJSON", { format: "ndjson" }));
    figures.push(await volume(bench, key, "sealed"));
    printFigures(`Export of ${values.records} records, Deno ${hostedVersion}`, figures);
  } finally {
    await bench.stop();
  }
}

/** Records of the day before yesterday. A key that reads them. */
async function fill(bench: BenchStack, count: number, file?: string): Promise<string> {
  const { state, sql } = bench;
  await createKey(bench, tenant);
  const events = await loadEvents(file);
  await sql.begin(async (sql) => {
    await sql`select logloom_private.create_partition(logloom_private.utc_day(now()) - 2)`;
    await sql`create temporary table events as
      select e.event, row_number() over () as n
      from jsonb_array_elements(${JSON.stringify(events)}::text::jsonb) e (event)`;
    const [{ insert }] = await sql`
      select logloom_private.added_records_sql(format(
        'insert into logloom.logs as l (id, tenant_id, ts, received_at, write_seq, record_bytes, %s)
         select gen_random_uuid(), %L, (logloom_private.utc_day(now()) - 2)::timestamp at time zone ''UTC''
           + c.n * interval ''86399 seconds'' / %s, now() - interval ''1 day'', 1 + c.n / 1000,
           octet_length(e.event::text), %s
         from generate_series(1, %s) c (n)
         join events e on e.n = 1 + c.n %% %s
         cross join jsonb_populate_record(null::logloom.logs, e.event - ''ts'') p',
        logloom_private.written_fields_sql('%1$s'), ${tenant}::text, ${count}::integer,
        logloom_private.written_fields_sql('p.%1$s'), ${count}::integer, ${events.length}::integer
      )) as insert`;
    await sql.unsafe(insert);
  });
  await sql`analyze logloom.logs`;
  const made = await fetch(`${state.url}/rest/v1/rpc/create_api_key`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${userToken(crypto.randomUUID(), tenant)}`,
    },
    body: JSON.stringify({ p_name: "reads", p_scopes: ["read"] }),
  });
  return (await made.json()).key_value;
}

async function exported(
  { state, stack }: BenchStack,
  key: string,
  name: string,
  asked: Record<string, string>,
  encoding = "identity",
): Promise<Figure> {
  let records = 0;
  let bytes = 0;
  let requests = 0;
  const idle = await memoryOf(stack);
  let most = idle;
  const before = await secondsByProcess(stack);
  const began = performance.now();
  let place: Record<string, string> = {};
  let looks = 0;
  for (;;) {
    const parameters = new URLSearchParams({ from: "now-4d", ...asked, ...place });
    const answer = await fetch(
      `${state.url}/functions/v1/logloom-read/v1/export?${parameters}`,
      { headers: { "x-api-key": key, "accept-encoding": encoding } },
    );
    if (answer.status === 204) break;
    if (answer.status !== 200 || answer.body === null) throw new Error(await answer.text());
    requests++;
    // The client shares the machine: it only counts, and keeps the end.
    let end = "";
    const decoder = new TextDecoder();
    for await (const chunk of answer.body) {
      bytes += chunk.length;
      for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) records++;
      end = (end + decoder.decode(chunk.subarray(-maxLine))).slice(-maxLine);
      if (looks++ % 20 === 0) most = Math.max(most, await memoryOf(stack));
    }
    const last = end.trimEnd().split("\n").at(-1) ?? "";
    if (asked.format === "csv") {
      const cursor = answer.headers.get("x-logloom-cursor") ?? "";
      place = { cursor, after: last.split(",").slice(0, 2).join(",") };
      continue;
    }
    records--;
    const { complete, next_cursor, error } = JSON.parse(last);
    if (error !== undefined) throw new Error(error);
    if (complete) break;
    place = { cursor: next_cursor };
  }
  const seconds = (performance.now() - began) / 1000;
  const after = await secondsByProcess(stack);
  const used = (process: string) => (after.get(process) ?? 0) - (before.get(process) ?? 0);
  const rate = records / seconds;
  return {
    name,
    value: `${Math.round(rate)} records/s (${records} records, ${(bytes / 1e6).toFixed(0)} MB, ` +
      `${seconds.toFixed(1)} s), ${requests} responses; the function took ` +
      `${(used("logloom-read") / requests).toFixed(2)} s of processor a response and at most ` +
      `${mib(most - idle)} MiB beyond its ${mib(idle)} when idle, PostgreSQL ` +
      `${used("postgres").toFixed(1)} s`,
    ...name === "rows, NDJSON" && {
      limit: `≥ ${wantedRate} records/s, ≤ ${wantedMiB} MiB`,
      holds: rate >= wantedRate && most - idle <= wantedMiB * 2 ** 20,
    },
  };
}

/** What Grafana's Explore shows above the records of a day. */
async function volume({ state, sql }: BenchStack, key: string, name: string): Promise<Figure> {
  const [{ start }] = await sql`
    select extract(epoch from logloom_private.utc_day(now()) - 2)::integer as start`;
  const parameters = new URLSearchParams({
    query: 'sum by (level, detected_level) (count_over_time({service=~".+"}[2m]))',
    start: `${start}000000000`,
    end: `${start + 86_400}000000000`,
    step: "120000ms",
  });
  const times: number[] = [];
  for (let n = 0; n < 20; n++) {
    const began = performance.now();
    const answer = await fetch(
      `${state.url}/functions/v1/logloom-read/loki/api/v1/query_range?${parameters}`,
      { headers: { authorization: `Basic ${btoa(`grafana:${key}`)}` } },
    );
    const text = await answer.text();
    if (answer.status !== 200 || !text.includes('"detected_level":"error"')) throw new Error(text);
    times.push(performance.now() - began);
  }
  const p50 = percentile(times, 0.5);
  return {
    name: `${name}, Grafana's volume of a day`,
    value: `p50 ${p50.toFixed(0)}, p95 ${percentile(times, 0.95).toFixed(0)} ms`,
    limit: `≤ ${wantedVolumeMs} ms`,
    holds: p50 <= wantedVolumeMs,
  };
}

function mib(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0);
}

/** Resident memory of the function's process, in bytes. */
async function memoryOf(stack: Stack): Promise<number> {
  const pid = (await readState(stack))?.processes["logloom-read"]?.pid;
  const status = await Deno.readTextFile(`/proc/${pid}/status`).catch(() => "");
  return 1024 * Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0);
}
