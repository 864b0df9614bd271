import { deepStrictEqual, notDeepStrictEqual } from "node:assert/strict";
import type postgres from "postgres";
import type { Database } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { ownDatabase } from "../support/own_database.ts";

// A day's records are counted before its partition is replaced under the writer's lock. Changes
// between the two must not get lost.

const day = "2026-03-04";
const tenant = "late";

Deno.test("a partition is not replaced by a copy that is out of date", async (t) => {
  await using sql = await ownDatabase("replaced_day", 3);
  await sql`insert into logloom.tenants (tenant_id, plan_id) values (${tenant}, 'pro')`;
  // The timeout is long enough for a step of the test.
  await sql`update logloom_private.settings set partition_drop_lock_timeout = '5 min'`;
  await sql`select logloom_private.create_partition(${day})`;
  await add(sql, 3);

  await t.step("with a new record", async () => {
    deepStrictEqual(await replacedWhile(sql, (writer) => add(writer, 1)), "changed");
    deepStrictEqual(await stored(sql), { rows: 4, counted: 4 });
  });

  await t.step("without a change: nobody can delete records meanwhile", async () => {
    const before = await partition(sql);
    const outcome = await replacedWhile(sql, async (writer) => {
      const [{ locked }] = await writer`
        select pg_try_advisory_lock(logloom_private.lock_key('deletion')) as locked`;
      deepStrictEqual(locked, false);
    });
    deepStrictEqual(outcome, "replaced");
    deepStrictEqual(await stored(sql), { rows: 4, counted: 4 });
    notDeepStrictEqual(await partition(sql), before);
  });
});

Deno.test("counts are summed up while a day's partition is replaced", async () => {
  await using sql = await ownDatabase("summed_day", 3);
  await sql`insert into logloom.tenants (tenant_id, plan_id) values (${tenant}, 'pro')`;
  await sql`select logloom_private.create_partition(${day})`;
  await add(sql, 3);
  const job = await sql.reserve();
  const [{ pid }] = await job`select pg_backend_pid() as pid`;
  let summing: Promise<unknown[]> | undefined;
  await sql.begin(async (replacing) => {
    await replacing.unsafe(`drop table logloom.logs_${day.replaceAll("-", "_")}`);
    summing = job`select logloom_private.summarize_writes(${day}) as done`.execute();
    // replace_partition waits at most 100 ms, so this polls inside the database.
    await replacing.unsafe(`
      do $$
      begin
        for i in 1..1000 loop
          exit when exists (select from pg_locks l where l.pid = ${pid} and not l.granted);
          perform pg_sleep(0.001);
        end loop;
      end;
      $$`);
  });
  deepStrictEqual((await summing)?.length, 1);
  job.release();
});

/** Returns the outcome if a session with the writer's lock does something after the records were counted. */
async function replacedWhile(
  sql: Database,
  change: (writer: postgres.Sql) => Promise<unknown>,
): Promise<string> {
  await sql`
    insert into logloom_private.sealing_days (day, removed_records, checked_at)
    values (${day}, 100, now())
    on conflict (day) do update set removed_records = excluded.removed_records`;
  await sql`select logloom_private.prepare_replacement(${day})`;
  const [job, writer] = [await sql.reserve(), await sql.reserve()];
  const [{ pid }] = await job`select pg_backend_pid() as pid`;
  await writer`select pg_advisory_lock(logloom_private.lock_key('writer'))`;
  const replacing = job`select logloom_private.replace_partition(${day}) as outcome`.execute();
  await eventually("it waits for the writer's lock", async () => {
    const [{ waits }] = await sql`
      select exists (
        select from pg_locks l where l.pid = ${pid} and l.locktype = 'advisory' and not l.granted
      ) as waits`;
    return waits;
  });
  await change(writer);
  await writer`select pg_advisory_unlock(logloom_private.lock_key('writer'))`;
  const [{ outcome }] = await replacing;
  job.release();
  writer.release();
  return outcome;
}

async function add(sql: postgres.Sql, records: number): Promise<void> {
  const [{ insert }] = await sql`
    select logloom_private.added_records_sql(${`
      insert into logloom.logs as l (id, tenant_id, ts, received_at, write_seq, msg)
      select
        gen_random_uuid(), '${tenant}', '${day}T12:00:00Z'::timestamptz + i * interval '1 second',
        now(), nextval('logloom_private.write_seq'), 'late'
      from generate_series(1, ${records}) i`}) as insert`;
  await sql.unsafe(insert);
}

async function stored(sql: Database): Promise<{ rows: number; counted: number }> {
  const [found] = await sql`
    select
      (select count(*)::integer from logloom.logs l where l.tenant_id = ${tenant}) as rows,
      (select sum(c.events)::integer from logloom_private.log_counts c) as counted`;
  return { rows: found.rows, counted: found.counted };
}

async function partition(sql: Database): Promise<number> {
  const [{ oid }] = await sql`
    select to_regclass('logloom.' || logloom_private.partition_name(${day}))::oid as oid`;
  return oid;
}

Deno.test("a long autovacuum does not block a replacement", async () => {
  await using sql = await ownDatabase("vacuumed_day", 2);
  const holding = async () => {
    const [{ count }] = await sql`
      select count(*)::integer as count
      from pg_stat_activity a
      where a.datname = current_database() and a.backend_type = 'autovacuum worker'
        and a.backend_xmin is not null`;
    return count > 0;
  };
  const naptime = async (set: string) => {
    await sql.unsafe(`alter system ${set}`);
    await sql`select pg_reload_conf()`;
  };
  await sql`
    create table public.large (n integer, padding text default repeat('x', 500)) with (
      autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0,
      autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1
    )`;
  await sql`insert into public.large select generate_series(1, 20000)`;
  await sql`delete from public.large`;
  await naptime("set autovacuum_naptime = '1s'");
  try {
    await eventually("autovacuum is at the table", holding);
    const [{ xid }] = await sql`select pg_current_xact_id()::text as xid`;
    const older = async () => {
      const [{ is_older }] = await sql`
        select logloom_private.has_older_snapshot(${xid}::xid8) as is_older`;
      return is_older;
    };
    deepStrictEqual([await older(), await holding()], [false, true]);
    await sql.begin("isolation level repeatable read", async (reader) => {
      // The reader takes its own number first. Its snapshot then begins at this number, and `later` is greater.
      await reader`select pg_current_xact_id()`;
      const [{ later }] = await sql`select pg_current_xact_id()::text as later`;
      const [{ is_older }] = await sql`
        select logloom_private.has_older_snapshot(${later}::xid8) as is_older`;
      deepStrictEqual(is_older, true);
    });
  } finally {
    await naptime("reset autovacuum_naptime");
  }
});
