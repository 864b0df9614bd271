import assert from "node:assert/strict";
import { apiKey, createKey, ingest, newTenant } from "../support/client.ts";
import { openDatabase } from "../support/database.ts";
import { stack } from "../support/stack.ts";

/** Creates domains in pg_temp with the names of PostgreSQL's types. Their checks count how often they run. */
const hostileTypes = `
  create temp sequence ran;
  create function pg_temp.evil(p_value anyelement) returns boolean language plpgsql as $$
  begin
    perform pg_catalog.nextval('pg_temp.ran');
    return true;
  end;
  $$;
  do $$
  declare
    v_name pg_catalog.text;
  begin
    for v_name in
      select t.typname
      from pg_catalog.pg_type t
      where t.typnamespace = 'pg_catalog'::pg_catalog.regnamespace and t.typtype = 'b'
        and t.typcategory <> 'A'
    loop
      execute pg_catalog.format(
        'create domain pg_temp.%1$I as pg_catalog.%1$I check (pg_temp.evil(value))', v_name
      );
    end loop;
    create type pg_temp.record as (intruder pg_temp.text);
  end;
  $$;`;

/** The procedures that pg_cron and operators call. They call run_step. */
const calls = [
  ...["write_logs", "evaluate_alerts", "run_retention", "purge_old_rows", "run_canary"].map((job) =>
    `logloom_private.run_job('${job}')`
  ),
  // This lane does not exist. The run ends after half of its statement_timeout.
  "logloom_private.work('none')",
  "logloom_private.verify()",
];

Deno.test("a procedure runs no code from pg_temp, not even its caller's", async () => {
  const { key_value } = await createKey(await newTenant());
  await using db = openDatabase(stack.adminDatabaseUrl, 1);
  const ran = async () => {
    const [{ ran }] = await db`
      select case when is_called then last_value::pg_catalog.int4 else 0 end as ran
      from pg_temp.ran`;
    return ran;
  };
  await db.unsafe("set role postgres").simple();
  await db.unsafe(hostileTypes).simple();
  const procedures = await db`
    select p.proname as name from pg_catalog.pg_proc p
    where p.pronamespace = 'logloom_private'::pg_catalog.regnamespace and p.prokind = 'p'
    order by 1`;
  assert.deepEqual(procedures.map(({ name }) => name), ["run_job", "run_step", "verify", "work"]);

  for (const call of calls) {
    // The writer has something to write.
    assert.equal((await ingest(apiKey(key_value), { msg: "under attack" })).status, 200);
    await db.unsafe(`set statement_timeout = '${call.includes("work") ? "4s" : "2min"}'`).simple();
    await db.unsafe(`call ${call}`).simple();
    assert.equal(await ran(), 0, call);
  }
  const [{ failed }] = await db`
    select pg_catalog.count(*)::pg_catalog.int4 as failed
    from logloom_private.jobs j
    where j.failures > 0 and j.name in ('write_logs', 'evaluate_alerts', 'run_retention')`;
  assert.equal(failed, 0);

  // Shows that an unqualified name does run the domain's check.
  await db.unsafe("do $$ declare v text := 'x'; begin end; $$").simple();
  assert.equal(await ran(), 1);
});

Deno.test("check_request runs no code from pg_temp", async () => {
  await using db = openDatabase(stack.adminDatabaseUrl, 1);
  await db.unsafe(hostileTypes).simple();
  await db.unsafe("grant all on sequence pg_temp.ran to public").simple();
  for (const role of ["anon", "authenticated", "service_role"]) {
    for (const path of ["/rpc/search_logs", "/rpc/run_writer", "/orders"]) {
      await db.unsafe(`
        begin;
        select pg_catalog.set_config('search_path', '"public", "extensions"', true),
          pg_catalog.set_config('request.path', '${path}', true),
          pg_catalog.set_config('request.method', 'POST', true),
          pg_catalog.set_config('request.headers', '{"authorization": "Bearer a.b.c"}', true),
          pg_catalog.set_config('request.jwt.claims', '{"role": "${role}"}', true),
          pg_catalog.set_config('role', '${role}', true);
        select logloom_private.check_request();
        commit;`).simple().catch(() => db.unsafe("rollback").simple());
      const [{ is_called }] = await db`select is_called from pg_temp.ran`;
      assert.equal(is_called, false, `${role} ${path}`);
    }
  }
});
