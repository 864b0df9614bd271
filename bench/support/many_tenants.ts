import type postgres from "postgres";
import { addRecords } from "./records.ts";
import { type Figure, percentile, thousands } from "./report.ts";
import type { BenchStack } from "./stack.ts";
import { setPaused } from "./jobs.ts";

const eventsADay = 5;
/** Days before today with records; half of the tenants keep some, half all but the oldest. */
const days = 10;
const kept = [5, 9];

/**
 * The cost of a night with very many tenants and a handful of events each: days are deleted for half of them and one is
 * dropped for all, while one tenant keeps sending.
 */
export async function manyTenantFigures(
  bench: BenchStack,
  tenants: number,
  send: () => Promise<Response>,
): Promise<Figure[]> {
  const { sql } = bench;
  console.error("  Making tenants and their records …");
  await makeTenants(sql, tenants);
  for (let day = 1; day <= days; day++) await writeDay(sql, tenants, day);
  // The job may be running too.
  while (await isThere(sql, "log_counts c where c.is_delta")) await run(sql, "compact_log_counts");
  await compact(sql);
  const before = await sizes(sql);

  console.error("  Retention …");
  const answers = { resting: [] as number[], working: [] as number[], failures: 0 };
  let phase: "resting" | "working" = "resting";
  let isOver = false;
  const sending = (async () => {
    while (!isOver) {
      const began = performance.now();
      const response = await send();
      await response.body?.cancel();
      if (response.status === 200) answers[phase].push(performance.now() - began);
      else answers.failures += 1;
      await pause(50);
    }
  })();
  await pause(10_000);
  phase = "working";
  const watch = watchWriterLock(sql);
  // Last night's run first, which drops nothing: the days were one younger then.
  const byRows = await timed(() => retain(sql, 1));
  const withDrop = await timed(() => retain(sql, 0));
  const held = await watch.stop();
  isOver = true;
  await sending;

  const rowDays = days - kept[0] - 1;
  const [left] = await sql`
    select
      (select count(*)::float8 from logloom.logs l where l.tenant_id like 'many-%') as records,
      (select coalesce(sum(r.records), 0)::float8 from logloom.retention_runs r) as deleted,
      (
        select coalesce(sum(c.events), 0)::float8
        from logloom_private.log_counts c where c.tenant_id like 'many-%'
      ) as counted,
      (select coalesce(max(j.last_error), 'none') from logloom_private.jobs j) as error`;
  const written = tenants * eventsADay * days;
  const rowSeconds = byRows / 1000 / rowDays;
  return [
    { name: "tenants, days, events a day of each", value: `${tenants}, ${days}, ${eventsADay}` },
    { name: "logs, MB", value: (before.logs / 1e6).toFixed(0) },
    { name: "counts, MB", value: (before.counts / 1e6).toFixed(1) },
    limited("a day deleted for half of the tenants, s", rowSeconds, 1, 30),
    limited(
      "a day dropped for all, and all that is known of it, s",
      withDrop / 1000 - rowSeconds,
      1,
      30,
    ),
    limited("… the writer held up by retention, longest, ms", held, 0, 220),
    {
      name: "ingest p95, ms: retention resting, working",
      value: `${percentile(answers.resting, 0.95).toFixed(0)}, ${
        percentile(answers.working, 0.95).toFixed(0)
      }`,
    },
    limited("answers other than 200", answers.failures, 0, 0),
    equal("records left and deleted", left.records + left.deleted, written),
    equal("records left, by the counts", left.counted, left.records),
    {
      name: "jobs' last error",
      value: left.error,
      limit: "none",
      holds: left.error === "none",
    },
  ];
}

function limited(name: string, value: number, digits: number, most: number): Figure {
  return {
    name,
    value: value.toFixed(digits),
    limit: `≤ ${most.toFixed(digits)}`,
    holds: value <= most,
  };
}

function equal(name: string, value: number, wanted: number): Figure {
  return { name, value: thousands(value), limit: thousands(wanted), holds: value === wanted };
}

async function makeTenants(sql: postgres.Sql, tenants: number): Promise<void> {
  await setPaused(sql, true, ["run_retention", "seal_logs"]);
  await sql`
    insert into logloom.tenants (tenant_id, plan_id)
    select 'many-' || n, 'enterprise' from generate_series(1, ${tenants}::integer) n`;
  await sql`
    insert into logloom.tenant_settings (tenant_id, retention_days)
    select 'many-' || n, (${kept}::integer[])[1 + n % 2] from generate_series(1, ${tenants}::integer) n`;
}

async function writeDay(sql: postgres.Sql, tenants: number, age: number): Promise<void> {
  // Owned by the writer's role, otherwise retention could not drop it.
  await sql.begin(async (one) => {
    await one`set local role postgres`;
    await one`
      select logloom_private.create_partition(logloom_private.utc_day(now()) - ${age}::integer)`;
  });
  await addRecords(
    sql,
    `
      insert into logloom.logs as l (
        id, tenant_id, ts, received_at, write_seq, level, msg, service, host, attrs
      )
      select gen_random_uuid(), 'many-' || n,
        logloom_private.day_start(logloom_private.utc_day(now()) - $2::integer)
          + random() * interval '1 day',
        now(), nextval('logloom_private.write_seq'),
        (array['debug', 'info', 'warn', 'error'])[1 + floor(random() * 4)],
        format('GET /items/%s answered in %s ms for %s', floor(random() * 1e6),
          floor(random() * 100), md5(random()::text)),
        (array['api', 'web', 'worker'])[1 + floor(random() * 3)],
        'host-' || floor(random() * 9), jsonb_build_object('status', 200, 'path', '/items')
      from generate_series(1, $1::integer) n, generate_series(1, ${eventsADay})
      order by 2, 3`,
    [tenants, age],
  );
}

async function isThere(sql: postgres.Sql, what: string): Promise<boolean> {
  const [{ exists }] = await sql.unsafe(
    `select exists (select from logloom_private.${what})`,
  );
  return exists;
}

async function run(sql: postgres.Sql, job: string): Promise<void> {
  await sql`call logloom_private.run_job(${job})`;
}

/** Space of deleted rows does not count: the size of a table that was never larger. */
async function compact(sql: postgres.Sql): Promise<void> {
  await sql`vacuum full analyze logloom_private.log_counts`;
}

async function sizes(sql: postgres.Sql): Promise<{ logs: number; counts: number }> {
  const [row] = await sql<{ logs: number; counts: number }[]>`
    select
      sum(pg_total_relation_size(i.inhrelid))::float8 as logs,
      pg_total_relation_size('logloom_private.log_counts')::float8 as counts
    from pg_inherits i where i.inhparent = 'logloom.logs'::regclass`;
  return row;
}

/** The retention of a night so many days ago, until it is done. */
async function retain(sql: postgres.Sql, daysAgo: number): Promise<void> {
  for (;;) {
    await sql`
      select logloom_private.begin_retention(logloom_private.utc_day(now()) - ${daysAgo}::integer)`;
    await sql`call logloom_private.run_job('run_retention')`;
    const [{ done }] = await sql`
      select finished_at is not null as done from logloom_private.retention_place`;
    if (done) return;
  }
}

/** The longest time in ms that retention held the writer's lock, seen from the locks. */
function watchWriterLock(sql: postgres.Sql): { stop: () => Promise<number> } {
  let isOver = false;
  let longest = 0;
  const watching = (async () => {
    let since: number | undefined;
    while (!isOver) {
      const asked = performance.now();
      const [{ held }] = await sql`
        select exists (
          select from pg_locks l
          join pg_stat_activity a on a.pid = l.pid
          where l.locktype = 'advisory' and l.granted and a.query like '%run_retention%'
            and l.objid = logloom_private.lock_key('writer')::bigint & 4294967295
        ) as held`;
      if (held) {
        since ??= asked;
        longest = Math.max(longest, performance.now() - since);
      } else {
        since = undefined;
      }
    }
  })();
  return {
    stop: async () => {
      isOver = true;
      await watching;
      return longest;
    },
  };
}

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
