import { Failure } from "../../local/exit_on_failure.ts";
import type { Event } from "../support/events.ts";
import { addRecords } from "../support/add_records.ts";
import { secondsByProcess, used } from "../support/processor.ts";
import { type Figure, thousands } from "../support/report.ts";
import type { BenchStack } from "../support/stack.ts";
import { setPaused } from "../support/pause_jobs.ts";

/** Tenants of one size: their number, and the records of each in a day. */
interface Kind {
  readonly name: string;
  readonly tenants: number;
  readonly aDay: number;
}

/** A typical distribution: one of a hundred tenants has 60 % of all records, and ninety of them have 10 % together. */
function kindsOf(tenants: number, records: number, days: number): Kind[] {
  const large = Math.max(1, Math.round(tenants / 100));
  const middle = Math.round(tenants * 9 / 100);
  const small = tenants - large - middle;
  const aDay = (share: number, count: number) =>
    Math.max(1, Math.round(records * share / Math.max(count, 1) / days));
  return [
    { name: "large", tenants: large, aDay: aDay(0.6, large) },
    { name: "middle", tenants: middle, aDay: aDay(0.3, middle) },
    { name: "small", tenants: small, aDay: aDay(0.1, small) },
  ];
}

/**
 * Seals a month of many tenants and lets the job archive it, as on any project. Returns the costs, and the content of
 * the bucket.
 */
export async function monthFigures(
  bench: BenchStack,
  events: Event[],
  { tenants, records, days, minutes }: {
    tenants: number;
    records: number;
    days: number;
    minutes: number;
  },
): Promise<Figure[]> {
  const { sql } = bench;
  const kinds = kindsOf(tenants, records, days);
  await sql`
    update logloom.plans set retention_days_default = 90, retention_days_max = 90
    where plan_id = 'enterprise'`;
  await sql`update logloom_private.settings set archive_after = '1000 days' where singleton`;
  await makeTenants(bench, kinds);
  await keepEvents(bench, events);
  const [{ list }] = await sql<{ list: string[] }[]>`
    select array_agg((m.first + n)::text order by n) as list
    from (
      select (date_trunc('month', now() at time zone 'UTC') - interval '1 month')::date as first
    ) m, generate_series(0, ${days}::integer - 1) n`;
  // The jobs are paused, because they would drop an empty day, and seal a day while it is written.
  await setJobs(bench, false);
  for (const [n, day] of list.entries()) {
    console.error(`  Writing ${day} …`);
    await writeDay(bench, kinds, day, n);
  }
  console.error("  Sealing …");
  await seal(bench);
  await setJobs(bench, true);
  await sql`vacuum analyze logloom_private.blocks`;
  const [{ accepted }] = await sql`
    select (
      (select count(*) from logloom.logs)
      + (select coalesce(sum(records), 0) from logloom_private.blocks)
    )::float8 as accepted`;

  console.error("  Archiving …");
  const before = await secondsByProcess(bench.stack);
  const began = performance.now();
  await sql`update logloom_private.settings set archive_after = '1 day' where singleton`;
  await sql`
    update logloom_private.archive_bucket
    set planned_at = null, planned_through = null where singleton`;
  while (!await isDone(bench)) {
    if (performance.now() - began > minutes * 60_000) {
      throw new Failure(`The month was not archived within ${minutes} minutes.`);
    }
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
  const seconds = (performance.now() - began) / 1000;
  const processor = used(before, await secondsByProcess(bench.stack));
  return await figuresOf(bench, kinds, { days, accepted, seconds, processor });
}

async function figuresOf(
  { sql }: BenchStack,
  kinds: Kind[],
  { days, accepted, seconds, processor }: {
    days: number;
    accepted: number;
    seconds: number;
    processor: Map<string, number>;
  },
): Promise<Figure[]> {
  const parts = await sql<
    { kind: string; files: number; records: number; bytes: number; most: number }[]
  >`
    select split_part(tenant_id, '-', 1) as kind, sum(files)::float8 as files,
      sum(records)::float8 as records, sum(bytes)::float8 as bytes, max(files)::float8 as most
    from (
      select tenant_id, count(*) as files, sum(records) as records, sum(bytes) as bytes
      from logloom.archive_parts where status = 'verified' group by 1
    ) t
    group by 1`;
  const sum = (name: "files" | "records" | "bytes") =>
    parts.reduce((total, part) => total + part[name], 0);
  const [{ check }] = await sql`select logloom_private.archive_health(now()) as check`;
  const rate = sum("records") / seconds;
  const hours = 1e6 / rate / 3600;
  const [smallest] = parts.filter(({ kind }) => kind === "small");
  return [
    {
      name: "tenants, days, records",
      value: [kinds.reduce((total, { tenants }) => total + tenants, 0), days, accepted]
        .map(thousands).join(", "),
    },
    ...kinds.map(({ name, tenants, aDay }) => {
      const part = parts.find(({ kind }) => kind === name);
      return {
        name: `${name}: tenants, records a day of each, files of each, bytes a file and a record`,
        value: [
          tenants,
          aDay,
          (part?.files ?? 0) / tenants,
          (part?.bytes ?? 0) / (part?.files ?? 1),
          (part?.bytes ?? 0) / (part?.records ?? 1),
        ].map((value) => value < 100 ? `${+value.toFixed(1)}` : thousands(value)).join(", "),
      };
    }),
    {
      name: "files of a small tenant, most",
      value: thousands(smallest?.most ?? 0),
      limit: "1",
      holds: smallest?.most === 1,
    },
    { name: "objects", value: thousands(sum("files")) },
    { name: "MB in the bucket", value: (sum("bytes") / 1e6).toFixed(1) },
    {
      name: "records archived",
      value: thousands(sum("records")),
      limit: thousands(accepted),
      holds: sum("records") === accepted,
    },
    { name: "seconds", value: seconds.toFixed(0) },
    { name: "records archived a second", value: thousands(rate) },
    {
      name: "hours for a day of a million records",
      value: hours.toFixed(2),
      limit: "24",
      holds: hours <= 24,
    },
    ...["logloom-archive", "postgres", "postgrest"].map((name) => ({
      name: `processor seconds of ${name} a million`,
      value: ((processor.get(name) ?? 0) / sum("records") * 1e6).toFixed(0),
    })),
    {
      name: "health at the end: status, passes, objects to be deleted",
      value: `${check.status}, ${check.passes}, ${check.garbage}`,
      limit: "healthy, 0, 0",
      holds: check.status === "healthy" && check.passes === 0 && check.garbage === 0,
    },
  ];
}

async function makeTenants({ sql }: BenchStack, kinds: Kind[]): Promise<void> {
  for (const { name, tenants } of kinds) {
    await sql`
      insert into logloom.tenants (tenant_id, plan_id)
      select ${name}::text || '-' || n, 'enterprise' from generate_series(1, ${tenants}::integer) n`;
  }
}

/** Stores the events in a table, from which SQL makes records. */
async function keepEvents({ sql }: BenchStack, events: Event[]): Promise<void> {
  await sql`
    create table public.bench_events (
      n integer primary key, level text, msg text, service text, env text, req_id text,
      user_id text, route text, host text, attrs jsonb
    )`;
  for (let at = 0; at < events.length; at += 5000) {
    await sql`
      insert into public.bench_events
      select ${at}::integer + e.n - 1, r.level, r.msg, r.service, r.env, r.req_id, r.user_id,
        r.route, r.host, r.attrs
      from jsonb_array_elements(${
      JSON.stringify(events.slice(at, at + 5000))
    }::text::jsonb) with ordinality e (event, n),
        jsonb_populate_record(null::public.bench_events, e.event) r`;
  }
  await sql`analyze public.bench_events`;
}

/** Writes a day of all tenants: requests of up to 200 records, evenly over the day. */
async function writeDay({ sql }: BenchStack, kinds: Kind[], day: string, n: number): Promise<void> {
  await sql.begin(async (one) => {
    await one`set local role postgres`;
    await one`select logloom_private.create_partition(${day}::date)`;
  });
  for (const [k, { name, tenants, aDay }] of kinds.entries()) {
    await addRecords(
      sql,
      `
        insert into logloom.logs as l (
          id, tenant_id, ts, received_at, write_seq, level, msg, service, env, req_id, user_id,
          route, host, attrs
        )
        select
          overlay(b.key::text placing lpad(to_hex(i.n), 4, '0') from 33)::uuid,
          $1::text || '-' || t.n,
          date_trunc('milliseconds', d.start + (b.n * 200 + i.n) * d.step),
          b.last + interval '300 milliseconds',
          d.write_seq, e.level, e.msg, e.service, e.env, e.req_id, e.user_id, e.route, e.host,
          e.attrs
        from (
          select logloom_private.day_start($4::date) as start,
            interval '86399 seconds' / $3::integer as step,
            nextval('logloom_private.write_seq') as write_seq,
            (select count(*)::integer from public.bench_events) as events
        ) d
        cross join generate_series(1, $2::integer) t (n)
        cross join lateral (
          select g.n, least(200, $3::integer - 200 * g.n) as size, k.last,
            logloom_private.batch_key(k.last) as key
          from generate_series(0, ($3::integer - 1) / 200) g (n)
          cross join lateral (
            select d.start + least($3::integer, 200 * (g.n + 1)) * d.step as last
          ) k
          offset 0
        ) b
        cross join lateral generate_series(0, b.size - 1) i (n)
        join public.bench_events e
          on e.n = (t.n * 7919 + $5::integer * 104729 + b.n * 200 + i.n) % d.events
        order by 2, 3`,
      [name, tenants, aDay, day, n * kinds.length + k],
    );
  }
}

/** Pauses or resumes the jobs that seal and delete days. */
async function setJobs({ sql }: BenchStack, active: boolean): Promise<void> {
  await setPaused(sql, !active, ["seal_logs", "run_retention"]);
}

/** Seals like the job until no day is due. */
async function seal({ sql }: BenchStack): Promise<void> {
  for (;;) {
    await sql`
      call logloom_private.run_job('seal_logs')`;
    const [{ due }] = await sql`
      select logloom_private.next_day_to_seal(now()) is not null as due`;
    if (!due) return;
  }
}

async function isDone({ sql }: BenchStack): Promise<boolean> {
  const [{ is_done }] = await sql`
    select planned_at is not null and planned_through is null
      and not exists (select from logloom_private.archive_passes) as is_done
    from logloom_private.archive_bucket`;
  return is_done;
}
