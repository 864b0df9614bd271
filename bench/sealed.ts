import { parseArgs } from "node:util";
import { Failure } from "../local/exit_on_failure.ts";
import { besideSealingFigures } from "./support/beside_sealing.ts";
import { drawnAnew, seededRandom } from "./support/unique_events.ts";
import { type Event, loadEvents } from "./support/events.ts";
import {
  measure,
  type Measured,
  type Parameters,
  type Question,
} from "./support/measure_questions.ts";
import { type Figure, printFigures, ratio, thousands } from "./support/report.ts";
import {
  fillDay,
  makeDays,
  seal,
  sealedTables,
  sizeOf,
  vacuumSealed,
} from "./support/sealed_days.ts";
import { type BenchStack, startBenchStack } from "./support/stack.ts";

const tenant = "bench";

const parts = ["day", "month", "beside"];

/**
 * Compares a day of records as rows and as blocks: size, speed of sealing, and speed of reading over HTTP. Searches for
 * a request id in thirty days, which have as many records in total. Measures how much slower ingest and the writer are
 * while a day is sealed and its partition replaced. No two records of a day are equal.
 *
 * Options: --events FILE (NDJSON or .gz; default: generated events), --scale N (records of the day,
 * default 1000000), --runs N (calls of a question, default 20), --rounds N (of minutes without and
 * with sealing, default 4), --part day|month|beside (only this part; may be repeated).
 */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      events: { type: "string" },
      scale: { type: "string", default: "1000000" },
      runs: { type: "string", default: "20" },
      rounds: { type: "string", default: "4" },
      part: { type: "string", multiple: true },
    },
  });
  const [scale, runs] = [Number(values.scale), Number(values.runs)];
  const wanted = values.part ?? parts;
  const unknown = wanted.find((part) => !parts.includes(part));
  if (unknown !== undefined) throw new Failure(`There is no part ${unknown}: ${parts.join(", ")}.`);
  const events = await loadEvents(values.events);
  await using bench = await startBenchStack();
  const { sql } = bench;
  await sql`update logloom_private.settings set seal_after = '1000 days' where singleton`;
  await sql`insert into logloom.tenants (tenant_id, plan_id) values (${tenant}, 'enterprise')`;
  if (wanted.includes("day")) {
    printFigures(
      `A day of ${thousands(scale)} records, rows and sealed`,
      await dayFigures(bench, events, scale, runs),
    );
  }
  if (wanted.includes("month")) {
    printFigures(
      `A request in thirty days of ${thousands(scale / 30)} records, rows and sealed`,
      await monthFigures(bench, events, scale, runs),
    );
  }
  if (wanted.includes("beside")) {
    printFigures(
      "Ingest and the writer while days are sealed and replaced",
      await besideSealingFigures(bench, events, Number(values.rounds)),
    );
  }
}

async function dayFigures(
  bench: BenchStack,
  events: Event[],
  scale: number,
  runs: number,
): Promise<Figure[]> {
  const { sql } = bench;
  const [{ day }] = await sql`
    select (logloom_private.utc_day(now()) - 2)::text as day`;
  await makeDays(bench, tenant, [day]);
  const json = await fillDay(bench, tenant, drawnAnew(events, scale), day, scale);
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
  const rows = await measure(bench, asked, runs, [tenant]);

  const sealing = await seal(bench, tenant, [day]);
  await vacuumSealed(bench);
  const sealedBytes = await sizeOf(bench, sealedTables);
  const sealed = await measure(bench, asked, runs, [tenant]);

  return [
    { name: "bytes of JSON a record", value: (json / scale).toFixed(1) },
    { name: "bytes a record as rows, indexes included", value: (rowBytes / scale).toFixed(1) },
    {
      name: "bytes a record sealed, indexes included",
      value: (sealedBytes / scale).toFixed(1),
      limit: `0.11 of JSON: ${(0.11 * json / scale).toFixed(1)}`,
      holds: sealedBytes <= 0.11 * json,
    },
    {
      name: "records sealed a second of processor time, read back and compared",
      value: thousands(scale / sealing.seconds),
      limit: "60,000",
      holds: scale / sealing.seconds >= 60_000,
    },
    {
      name: "memory of the backend that sealed, in MB",
      value: sealing.megabytes.toFixed(0),
      limit: "150",
      holds: sealing.megabytes <= 150,
    },
    ...await oddities(bench, events, day),
    ...comparedFigures(asked, rows, sealed),
  ];
}

/** Searches thirty days for a request id that one record has, and for one that no record has. */
async function monthFigures(
  bench: BenchStack,
  events: Event[],
  scale: number,
  runs: number,
): Promise<Figure[]> {
  const { sql } = bench;
  const [{ days }] = await sql<{ days: string[] }[]>`
    select array_agg((logloom_private.utc_day(now()) - 3 - i)::text order by i desc) as days
    from generate_series(0, 29) i`;
  await makeDays(bench, tenant, days);
  const drawn = drawnAnew(events, scale, 3);
  const count = Math.floor(scale / days.length);
  for (const day of days) {
    const records = Array.from({ length: count }, (): Event => ({
      ...drawn.next().value,
      req_id: crypto.randomUUID(),
    }));
    await fillDay(bench, tenant, records, day, count);
  }
  await sql`vacuum analyze logloom.logs`;
  const [{ id }] = await sql`
    select req_id as id from logloom.logs
    where tenant_id = ${tenant} and ts >= ${days[15]} order by ts offset 1000 limit 1`;
  const range = {
    p_ts_from: days[0],
    p_ts_to: new Date(Date.parse(days[29]) + 86_400_000).toJSON(),
  };
  const asked: Question[] = [["one record's", id], ["none's", "nowhere"]].map(([name, value]) => ({
    name: `request id, ${name}`,
    operation: "search_logs",
    parameters: { p_query_dsl: `req_id:${value}`, ...range },
  }));
  const rows = await measure(bench, asked, runs, [tenant]);
  await seal(bench, tenant, days);
  await vacuumSealed(bench);
  const sealed = await measure(bench, asked, runs, [tenant]);
  return comparedFigures(asked, rows, sealed, 20);
}

/** `processor`: a fixed limit in ms. Without it the limit is 10 ms more than with rows. */
function comparedFigures(
  asked: Question[],
  rows: Measured[],
  sealed: Measured[],
  processor?: number,
): Figure[] {
  return [
    ...asked.map(({ name }, n) => ({
      name: `${name}, p95 in ms`,
      value: shown(sealed[n].p95),
      limit: `rows: ${shown(rows[n].p95)}, ratio ${ratio(sealed[n].p95, rows[n].p95)}`,
      holds: sealed[n].p95 <= rows[n].p95 + 10,
    })),
    ...asked.map(({ name }, n) => ({
      name: `${name}, processor time in ms`,
      value: shown(sealed[n].processor),
      limit: `${processor === undefined ? "" : `${processor}; `}rows: ${shown(rows[n].processor)}`,
      holds: sealed[n].processor <= (processor ?? rows[n].processor + 10),
    })),
  ];
}

function shown(milliseconds: number): string {
  return Number.isFinite(milliseconds) ? milliseconds.toFixed(1) : "no answer in time";
}

/** Measures the bytes of a record for data that compresses badly: noise, and tenants with a hundred records a day. */
async function oddities(bench: BenchStack, events: Event[], day: string): Promise<Figure[]> {
  const { sql } = bench;
  const random = seededRandom(2);
  const noise: Event[] = Array.from({ length: 32_000 }, () => ({
    level: "info",
    service: "api",
    msg: Array.from({ length: 83 }, () => String.fromCharCode(33 + Math.floor(94 * random())))
      .join(""),
  }));
  const [{ days }] = await sql<{ days: string[] }[]>`
    select array_agg((date_trunc('week', ${day}::timestamp)::date - i)::text) as days
    from generate_series(1, 7) i`;
  const figures: Figure[] = [];
  for (const name of ["noise", "small tenants"]) {
    const tenants = name === "noise"
      ? [name]
      : Array.from({ length: 60 }, (_, n) => `small-${n + 1}`);
    const filled = name === "noise" ? days.slice(0, 1) : days;
    await makeDays(bench, tenant, filled);
    const records = name === "noise" ? noise.length : tenants.length * days.length * 100;
    const drawn = name === "noise" ? noise : [...drawnAnew(events, records)];
    for (const each of tenants) {
      await sql`insert into logloom.tenants (tenant_id, plan_id) values (${each}, 'pro')`;
      for (const on of filled) {
        const count = records / tenants.length / filled.length;
        await fillDay(bench, each, drawn.splice(0, count), on, count);
      }
    }
    const asRows = await sizeOf(bench, filled.map((each) => `logs_${each.replaceAll("-", "_")}`));
    const before = await sizeOf(bench, sealedTables);
    for (const each of tenants) {
      await sql`select logloom_private.seal_block(${each}, ${filled}::date[])`;
    }
    const after = await sizeOf(bench, sealedTables);
    const part = name === "noise" ? 1 : 1 / 3;
    figures.push({
      name: name === "noise"
        ? "bytes a record of 83 random characters, sealed"
        : "bytes a record of tenants with 100 a day, a week sealed",
      value: ((after - before) / records).toFixed(1),
      limit: `${name === "noise" ? "rows" : "a third of rows"}: ${
        (part * asRows / records).toFixed(1)
      }`,
      holds: after - before <= part * asRows,
    });
    for (const each of filled) {
      await sql.unsafe(`truncate logloom.logs_${each.replaceAll("-", "_")}`);
    }
  }
  return figures;
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
