import { deepStrictEqual, ok } from "node:assert/strict";
import type postgres from "postgres";
import type { Database } from "../support/database.ts";
import { ownDatabase } from "../support/own_database.ts";

// A search over many days locks only some of the days at a time, whether they are rows or sealed. SEALING_DAYS=400
// tests more than a year.

const days = Number(Deno.env.get("SEALING_DAYS") ?? 130);
const tenant = "year";

Deno.test(`a search over ${days} days locks at most 100 relations`, async (t) => {
  await using sql = await ownDatabase("days_in_turn");
  await sql`
    insert into logloom.plans
    select (jsonb_populate_record(p, ${
    sql.json({
      plan_id: tenant,
      retention_days_default: 1000,
      retention_days_max: 1000,
    })
  })).*
    from logloom.plans p where p.plan_id = 'pro'`;
  await sql`insert into logloom.tenants (tenant_id, plan_id) values (${tenant}, ${tenant})`;
  // A page may take as long as it needs.
  await sql`update logloom_private.settings set search_page_time = '1 hour'`;
  await sql`
    select logloom_private.create_partition(logloom_private.utc_day(now()) - d)
    from generate_series(0, ${days - 1}::integer) d`;
  await sql`
    insert into logloom.logs (ts, received_at, write_seq, id, tenant_id, service, msg, attrs)
    select
      logloom_private.day_start(logloom_private.utc_day(now()) - d), now(), 1,
      ('01a1fe60-0000-7000-8000-' || lpad(d::text, 12, '0'))::uuid, ${tenant}, 'api', 'day ' || d,
      '{"n": 1}'
    from generate_series(0, ${days - 1}::integer) d`;
  await sql`
    insert into logloom_private.log_days (tenant_id, day)
    select ${tenant}, logloom_private.utc_day(now()) - d
    from generate_series(0, ${days - 1}::integer) d`;

  // This filter matches only while more than 100 relations are locked.
  await sql.unsafe(`
    create or replace function logloom_private.address_in(p_text text, p_network inet)
    returns boolean
    language plpgsql
    as $$ begin return (${locks}) > 100; end $$`);

  for (const kind of ["rows", "sealed"]) {
    if (kind === "sealed") await sealAll(sql);
    await t.step(`${kind}, while they are read`, async () => {
      deepStrictEqual(await found(sql, "msg:day"), {
        page: days,
        rows: kind === "rows" ? days : 0,
        stats: days,
      });
      deepStrictEqual(await found(sql, "@n:10.0.0.0/8"), { page: 0, rows: 0, stats: 0 });
    });
    await t.step(`${kind}, until the transaction ends`, async () => {
      const held = await sql.begin(async (sql) => {
        await readAll(sql, "msg:day");
        const [{ count }] = await sql.unsafe(`select (${locks})::integer as count`);
        return count;
      });
      ok(held > 0 && held <= 100, `${held} locks`);
    });
  }
});

/** How many relations this transaction has locked. */
const locks = `select count(*) from pg_catalog.pg_locks k
  where k.pid = pg_catalog.pg_backend_pid() and k.locktype = 'relation'`;

async function found(
  sql: Database,
  filter: string,
): Promise<{ page: number; rows: number; stats: number }> {
  return await sql.begin((sql) => readAll(sql, filter));
}

/** Returns how many records a filter finds, once for each way in which operations read records. */
async function readAll(sql: postgres.TransactionSql, filter: string) {
  const [read] = await sql`
    with given as (
      select
        logloom_private.compile_query(${filter} || ' | count() by attrs.n', now()) as query,
        tstzrange(now() - interval '500 days', now()) as range
    )
    select
      cardinality((logloom_private.found_page(
        ${tenant}, g.query, g.range, 1000, 'desc', null, null
      )).logs) as page,
      (
        select count(*) from logloom_private.rows_by_day(
          ${tenant},
          logloom_private.search_parts(${tenant}, lower(g.range), upper(g.range), 'asc'),
          (g.query).filter, null
        )
      )::integer as rows,
      (
        select coalesce(sum(s.value), 0)
        from logloom_private.log_stats_of(${tenant}, g.query, g.range, 100) s
      )::integer as stats
    from given g`;
  return { ...read } as { page: number; rows: number; stats: number };
}

async function sealAll(sql: Database): Promise<void> {
  await sql`update logloom_private.settings set seal_day_records = 1 where singleton`;
  const dates = await sql<{ day: string }[]>`
    select (logloom_private.utc_day(now()) - d)::text as day
    from generate_series(0, ${days - 1}::integer) d`;
  for (const { day } of dates) {
    // Takes the job's lock, because the job may be working on the same day.
    await sql`select pg_advisory_xact_lock(logloom_private.lock_key('deletion')),
      logloom_private.seal_block(${tenant}, array[${day}::date])`;
    await sql`select logloom_private.leave_days(array[${tenant}], array[${day}::date])`;
  }
}
