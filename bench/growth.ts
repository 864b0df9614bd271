import { parseArgs } from "node:util";
import { type Drawn, growthFigure } from "./growth/figure.ts";
import { copyTenants, copyToDay, originalOf } from "./growth/copies.ts";
import { drawnAnew } from "./support/drawn_anew.ts";
import { type Event, loadEvents } from "./support/events.ts";
import { measure, type Measured, type Question } from "./support/questions.ts";
import { printFigures, ratio, thousands } from "./support/report.ts";
import { fillDay, makeDays } from "./support/sealed_days.ts";
import { type BenchStack, startBenchStack } from "./support/stack.ts";
import { setPaused } from "./support/jobs.ts";

const daysOfMonth = 30;
const mostRecordsOfSource = 1_000_000;
const recordsOfSmallTenant = 3000;
const tenantsAtOnce = 500;

/**
 * How the cost of ten questions grows: with the records of one tenant's month, with the days of the range, and with the
 * number of tenants. A day is sealed; the others are copies of it.
 *
 * Options: --events FILE (NDJSON, .gz too; made events without it), --records N (of the largest month, default
 * 100000000; a tenth and a hundredth of it too), --tenants N (default 10000; a tenth and a thousandth of it too),
 * --runs N (calls of a question, default 5), --figure FILE (writes the figure as SVG).
 */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      events: { type: "string" },
      records: { type: "string", default: "100000000" },
      tenants: { type: "string", default: "10000" },
      runs: { type: "string", default: "5" },
      figure: { type: "string" },
    },
  });
  const events = await loadEvents(values.events);
  const runs = Number(values.runs);
  const bench = await startBenchStack();
  try {
    await stopJobs(bench);
    const days = await lastDays(bench);
    const months = await monthsOf(bench, events, Number(values.records), days, runs);
    await rangesOf(bench, events, days, runs);
    const tenants = await tenantsOf(bench, events, Number(values.tenants), days, runs);
    if (values.figure !== undefined) {
      await Deno.writeTextFile(values.figure, growthFigure(months, tenants));
    }
  } finally {
    await bench.stop();
  }
}

/** Only what this benchmark makes: nothing else seals its days. */
async function stopJobs({ sql }: BenchStack): Promise<void> {
  await setPaused(sql, true);
}

async function lastDays({ sql }: BenchStack): Promise<string[]> {
  const [{ days }] = await sql<{ days: string[] }[]>`
    select array_agg((logloom_private.utc_day(now()) - 2 - i)::text order by i desc) as days
    from generate_series(0, ${daysOfMonth - 1}::integer) i`;
  return days;
}

/** Ten questions over a month of 1 %, 10 % and all of the records. */
async function monthsOf(
  bench: BenchStack,
  events: Event[],
  largest: number,
  days: string[],
  runs: number,
): Promise<Drawn> {
  const sizes = [largest / 100, largest / 10, largest];
  const columns: Measured[][] = [];
  for (const size of sizes) {
    const tenant = `month-${size}`;
    step(`A month of ${thousands(size)} records`);
    const source = Math.min(Math.floor(size / daysOfMonth), mostRecordsOfSource);
    await sealDay(bench, events, tenant, days[0], source);
    await copyDays(bench, tenant, days, Math.round(size / source));
    await vacuum(bench);
    columns.push(await measure(bench, questions(days), runs, [tenant]));
  }
  print("A month of one tenant, by its records", sizes.map(thousands), questions(days), columns);
  return { title: "records of one tenant's month", sizes, ...shownOf(questions(days), columns) };
}

/** A day and thirty days of a million records each, or fewer if the largest month has fewer. */
async function rangesOf(
  bench: BenchStack,
  events: Event[],
  days: string[],
  runs: number,
): Promise<void> {
  const tenant = "thirty-days";
  step("Thirty days of a million records");
  await sealDay(bench, events, tenant, days[0], mostRecordsOfSource);
  await copyDays(bench, tenant, days, daysOfMonth);
  await vacuum(bench);
  const one = await measure(bench, questions(days.slice(-1)), runs, [tenant]);
  const all = await measure(bench, questions(days), runs, [tenant]);
  print("A million records a day", ["1 day", "30 days"], questions(days), [one, all]);
  printFigures(
    "Thirty days against one",
    questions(days).map(({ name }, n) => {
      // A page that a day fills; the others ask every day.
      const most = pagesThatFill.includes(name) ? 2 : 30;
      return {
        name,
        value: ratio(all[n].median, one[n].median),
        limit: `≤ ${most}`,
        holds: all[n].median <= most * one[n].median,
      };
    }),
  );
}

/** Ten questions of a small tenant beside 0.1 %, 10 % and all of the tenants. */
async function tenantsOf(
  bench: BenchStack,
  events: Event[],
  largest: number,
  days: string[],
  runs: number,
): Promise<Drawn> {
  const sizes = [Math.max(largest / 1000, 1), largest / 10, largest];
  const columns: Measured[][] = [];
  const source = "small-1";
  await fillDays(bench, events, source, days, recordsOfSmallTenant / daysOfMonth);
  await sealRange(bench, source, days);
  await vacuum(bench);
  const original = await originalOf(bench, source);
  let made = 1;
  for (const size of sizes) {
    step(`${thousands(size)} tenants`);
    while (made < size) {
      const next = Math.min(made + tenantsAtOnce, size);
      await copyTenants(
        bench,
        original,
        Array.from({ length: next - made }, (_, n) => `small-${made + n + 1}`),
      );
      made = next;
    }
    await vacuum(bench);
    const asked = Array.from(
      { length: runs + 1 },
      (_, n) => `small-${1 + Math.floor(n * (size - 1) / runs)}`,
    );
    columns.push(await measure(bench, questions(days), runs, asked));
  }
  print("A small tenant, by the number of tenants", sizes.map(thousands), questions(days), columns);
  return { title: "tenants of 3,000 records a month", sizes, ...shownOf(questions(days), columns) };
}

async function sealDay(
  bench: BenchStack,
  events: Event[],
  tenant: string,
  day: string,
  records: number,
): Promise<void> {
  await fillDays(bench, events, tenant, [day], records);
  await sealRange(bench, tenant, [day]);
}

async function fillDays(
  bench: BenchStack,
  events: Event[],
  tenant: string,
  days: string[],
  records: number,
): Promise<void> {
  await bench.sql`
    insert into logloom.tenants (tenant_id, plan_id) values (${tenant}, 'enterprise')
    on conflict do nothing`;
  await makeDays(bench, tenant, days);
  for (const day of days) await fillDay(bench, tenant, drawnAnew(events, records), day, records);
}

async function sealRange({ sql }: BenchStack, tenant: string, days: string[]): Promise<void> {
  for (const day of days) await sql`select logloom_private.recount_records(${day}::date)`;
  for (;;) {
    const [{ sealed }] = await sql`
      select logloom_private.seal_block(${tenant}, ${days}::date[]) as sealed`;
    if (sealed === 0) break;
  }
  await sql`select logloom_private.leave_days(array[${tenant}], ${days}::date[])`;
  // What is sealed is dead rows.
  for (const day of days) {
    await sql.unsafe(`vacuum full logloom.logs_${day.replaceAll("-", "_")}`);
  }
}

/** So many copies of the first day, over all days alike. */
async function copyDays(
  bench: BenchStack,
  tenant: string,
  days: string[],
  copies: number,
): Promise<void> {
  await makeDays(bench, tenant, days);
  const original = await originalOf(bench, tenant);
  for (let copy = 1; copy < copies; copy++) {
    await copyToDay(bench, original, copy % days.length, Math.floor(copy / days.length));
  }
}

async function vacuum({ sql }: BenchStack): Promise<void> {
  await sql`vacuum analyze logloom_private.blocks`;
  await sql`vacuum analyze logloom_private.block_columns`;
  await sql`vacuum analyze logloom_private.log_counts`;
  await sql`vacuum analyze logloom_private.log_days`;
}

const pagesThatFill = ["newest 100", "newest 100 of a service"];

function questions(days: string[]): Question[] {
  const p_ts_from = `${days[0]}T00:00:00Z`;
  const p_ts_to = new Date(Date.parse(days[days.length - 1]) + 86_400_000).toISOString();
  const ask = (name: string, operation: string, query: string): Question => ({
    name,
    operation,
    parameters: { p_query_dsl: query, p_ts_from, p_ts_to },
  });
  return [
    ask("newest 100", "search_logs", ""),
    ask("newest 100 of a service", "search_logs", "level:error service:openssh"),
    ask("newest 100 of a rare phrase", "search_logs", '"connection refused by upstream"'),
    ask("request id", "search_logs", "req_id:nowhere"),
    ask("count by service", "log_stats", "| count() by service"),
    ask("count by host", "log_stats", "| count() by host"),
    ask("phrase, count", "log_stats", '"failed password" | count()'),
    ask("status, count", "log_stats", "attrs.status:>=500 | count()"),
    ask("p95 of a number", "log_stats", "| p95(attrs.bytes) by service"),
    ask("histogram", "log_histogram", ""),
  ];
}

function shownOf(asked: Question[], columns: Measured[][]) {
  return {
    lines: asked.map(({ name }, n) => ({
      name,
      milliseconds: columns.map((column) => column[n].processor),
    })),
  };
}

function print(title: string, heads: string[], asked: Question[], columns: Measured[][]): void {
  printFigures(
    `${title}: p50 over HTTP, and processor time, in ms`,
    asked.map(({ name }, n) => ({
      name,
      value: heads.map((head, at) =>
        `${head}: ${columns[at][n].median.toFixed(1)}, ${columns[at][n].processor.toFixed(1)}`
      ).join("; "),
    })),
  );
}

function step(text: string): void {
  console.error(`  ${text}`);
}
