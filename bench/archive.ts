import { parseArgs } from "node:util";
import { drawnAnew } from "./support/unique_events.ts";
import { type Event, loadEvents } from "./support/events.ts";
import { secondsByProcess, used } from "./support/processor.ts";
import { type Figure, printFigures, thousands } from "./support/report.ts";
import { fillDay, makeDays } from "./support/sealed_days.ts";
import { type BenchStack, startBenchStack } from "./support/stack.ts";
import { Failure } from "../local/exit_on_failure.ts";
import { archiveSecret } from "../local/stack.ts";
import { monthFigures } from "./archive/measure_month.ts";
import { setPaused } from "./support/pause_jobs.ts";

const tenant = "bench";

/**
 * Measures how a sealed day of records is archived into a bucket, deleted from the database and restored. No two records
 * are equal, unless --as-logged is given.
 *
 * Options: --events FILE (NDJSON or .gz; default: generated events), --scale N (records, default 1000000), --as-logged.
 * With --tenants N, archives a month of that many tenants instead, most of them small: --records N (default 3000000), --days N
 * (default 30), --minutes N (how long it may take, default 25).
 */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      events: { type: "string" },
      scale: { type: "string", default: "1000000" },
      "as-logged": { type: "boolean", default: false },
      tenants: { type: "string" },
      records: { type: "string", default: "3000000" },
      days: { type: "string", default: "30" },
      minutes: { type: "string", default: "25" },
    },
  });
  const events = await loadEvents(values.events);
  await using bench = await startBenchStack(undefined, 0, "bench", { archive: true });
  if (values.tenants === undefined) {
    await archiveDay(bench, events, Number(values.scale), values["as-logged"]);
    return;
  }
  const figures = await monthFigures(bench, events, {
    tenants: Number(values.tenants),
    records: Number(values.records),
    days: Number(values.days),
    minutes: Number(values.minutes),
  });
  printFigures("A month of many tenants, archived by the job", figures);
  if (figures.some(({ holds }) => holds === false)) throw new Failure("Not every limit holds.");
}

async function archiveDay(
  bench: BenchStack,
  events: Event[],
  scale: number,
  asLogged: boolean,
): Promise<void> {
  const { sql } = bench;
  await sql`update logloom_private.settings set archive_after = '1000 days' where singleton`;
  // The job is paused, because it would seal the same records.
  await setPaused(sql, true, ["seal_logs"]);
  await sql`insert into logloom.tenants (tenant_id, plan_id) values (${tenant}, 'enterprise')`;
  const [{ day, until }] = await sql`
      select (logloom_private.utc_day(now()) - 40)::text as day,
        (logloom_private.utc_day(now()) - 39)::text as until`;
  await makeDays(bench, tenant, [day]);
  const records = asLogged ? repeated(events, scale) : drawnAnew(events, scale);
  await fillDay(bench, tenant, records, day, scale);
  await sql`
      insert into logloom_private.log_writes (write_seq, day)
      select max(write_seq), ${day}::date from logloom.logs`;
  for (;;) {
    const [{ sealed }] = await sql`
        select logloom_private.seal_block(${tenant}, array[${day}::date]) as sealed`;
    if (sealed === 0) break;
  }
  await sql`vacuum analyze logloom_private.blocks`;

  const archiving = await timed(bench, async () => {
    await sql`update logloom_private.settings set archive_after = '1 day' where singleton`;
    await sql`update logloom_private.archive_bucket set planned_at = null where singleton`;
    await hurried(bench, async () => {
      const [{ records }] = await sql`
          select coalesce(sum(records), 0)::integer as records
          from logloom.archive_parts where status = 'verified'`;
      return records === scale;
    });
  });
  const [{ bytes, files }] = await sql`
      select sum(bytes)::float8 as bytes, count(*)::integer as files from logloom.archive_parts`;
  await sql`delete from logloom_private.blocks where tenant_id = ${tenant}`;
  const restoring = await timed(bench, async () => {
    await sql`
        insert into logloom.archive_restores (
          tenant_id, requested_by, first_day, last_day, ts_from, ts_to, query_dsl, kept_until, parts
        )
        values (
          ${tenant}, 'bench', ${day}, ${day}, ${day}, ${until}, '', now() + interval '1 day',
          ${files}
        )`;
    await hurried(bench, async () => {
      const [{ records }] = await sql`select records::integer from logloom.archive_restores`;
      return records === scale;
    });
  });
  const millions = scale / 1e6;
  const kind = asLogged ? "as they were logged" : "none like another";
  printFigures(`${thousands(scale)} sealed records, ${kind}, archived and brought back`, [
    {
      name: "bytes a record in the bucket",
      value: (bytes / scale).toFixed(1),
      limit: "22",
      holds: bytes / scale <= 22,
    },
    { name: "records a file", value: thousands(scale / files) },
    ...figures("archived", scale / archiving.seconds, archiving.processor, millions),
    ...figures("brought back", scale / restoring.seconds, restoring.processor, millions),
  ]);
}

/** Repeats the events until there are `count`. */
function* repeated(events: Event[], count: number): Generator<Event> {
  for (let n = 0; n < count; n++) yield events[n % events.length];
}

function figures(
  what: string,
  rate: number,
  processor: Map<string, number>,
  millions: number,
): Figure[] {
  const name = (process: string) => `${what}, processor seconds of ${process} a million`;
  return [
    { name: `records ${what} a second`, value: thousands(rate) },
    ...["logloom-archive", "postgres", "postgrest"].map((process) => ({
      name: name(process),
      value: ((processor.get(process) ?? 0) / millions).toFixed(1),
    })),
  ];
}

async function timed(
  { stack }: BenchStack,
  work: () => Promise<void>,
): Promise<{ seconds: number; processor: Map<string, number> }> {
  const before = await secondsByProcess(stack);
  const began = performance.now();
  await work();
  const seconds = (performance.now() - began) / 1000;
  return { seconds, processor: used(before, await secondsByProcess(stack)) };
}

/** Calls the function without a pause, as the job does every few seconds. */
async function hurried({ stack, sql }: BenchStack, isDone: () => Promise<boolean>): Promise<void> {
  while (!await isDone()) {
    await sql`select logloom_private.plan_archive(now())`;
    const response = await fetch(`${stack.internalUrl}/functions/v1/logloom-archive`, {
      method: "POST",
      headers: { "X-Logloom-Archive-Secret": archiveSecret },
    });
    await response.body?.cancel();
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}
