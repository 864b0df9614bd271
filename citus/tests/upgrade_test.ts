import assert from "node:assert/strict";
import { uninstall } from "../../packages/logloom/src/cli/commands/uninstall.ts";
import { pushMigrations } from "../../local/database.ts";
import { installLayer, localShards } from "../local/nodes.ts";
import { checkout } from "../../local/stack.ts";
import { walk } from "../../local/list_files.ts";
import { migrations, migrationsFolder } from "../../local/migrations/released.ts";
import { callAsOwner, type Database, openDatabase } from "../../tests/support/database.ts";
import { eventually, pause } from "../../tests/support/eventually.ts";
import { stack } from "../../tests/support/stack.ts";
import { assertNothingLost, startLoad } from "./load.ts";
import {
  answersTo,
  noon,
  orders,
  type Question,
  sealRecordsOf,
  tenantWithDay,
} from "./sealed_day.ts";

const ours = `${checkout}/supabase`;

const folder = `${Deno.env.get("LOGLOOM_PROJECT")}/supabase/migrations`;

const questions: Question[] = [
  ["search_logs", { p_query_dsl: "*" }],
  ["search_logs", { p_query_dsl: "attrs.took:>900", p_order: "asc" }],
  ["search_logs", { p_query_dsl: 'msg:"order 7"' }],
  ["search_logs", { p_query_dsl: "any:r-1234" }],
  ["log_stats", { p_query_dsl: "level:error | count() by service" }],
  ["log_stats", { p_query_dsl: "attrs.took:>500 | count() by level" }],
  ["log_histogram", { p_query_dsl: "error" }],
  ["list_log_fields", {}],
];

/** Lists the service's objects on the nodes, without daily partitions, and the settings of operations. */
async function onNodes(sql: Database): Promise<unknown[]> {
  const rows = await sql`
    select pg_describe_object(d.classid, d.objid, d.objsubid) as thing, p.proconfig as settings
    from pg_dist_object d
    left join pg_proc p on d.classid = 'pg_proc'::regclass and p.oid = d.objid
    where d.classid <> 'pg_class'::regclass
      or d.objid not in (
        select i.inhrelid from pg_inherits i where i.inhparent = 'logloom.logs'::regclass
      )
    union all
    select p.oid::regprocedure::text, p.proconfig
    from pg_proc p
    where p.pronamespace = 'public'::regnamespace and p.proname = any (logloom_private.operations())
    order by 1`;
  assert.ok(rows.length > 100);
  return [...rows];
}

/** A migration that recreates all seams except after_migration, which would then be the core's. */
async function migrationOfSeams(): Promise<string> {
  const paths = await walk(["supabase/schemas"]);
  const texts = await Promise.all(paths.map((path) => Deno.readTextFile(`${checkout}/${path}`)));
  const seams = texts.filter((text) =>
    /^-- Seam/m.test(text) && !text.includes("function logloom_private.after_migration")
  );
  assert.ok(seams.length > 8);
  return [
    "select logloom_private.hold_writers();",
    ...seams.map((text) => text.replaceAll("create function", "create or replace function")),
    "select logloom_private.finish_migration();",
  ].join("\n");
}

Deno.test("an upgrade over nodes fails no search and loses nothing", async () => {
  await using sql = openDatabase();
  const tenant = await tenantWithDay(sql);
  await sealRecordsOf(sql, tenant.id, orders);
  const answers = () => answersTo(questions, tenant, new Date(noon.getTime() + 3_600_000));
  const before = await answers();
  await using load = await startLoad();
  await eventually(
    "events come in",
    () => Promise.resolve(load.senders.every(({ acknowledged }) => acknowledged > 100)),
  );

  let isOver = false;
  let asked = 0;
  const asking = (async () => {
    while (!isOver) {
      assert.deepEqual(await answers(), before);
      asked++;
      await pause(100);
    }
  })();
  asking.catch(() => {});

  // A migration restores the core's functions.
  await Deno.writeTextFile(`${folder}/29991231000000_logloom_again.sql`, await migrationOfSeams());
  const applied = await migrations(folder);
  const newer = (await migrations()).filter((name) => !applied.includes(name));
  for (const name of newer) await Deno.copyFile(`${migrationsFolder}/${name}`, `${folder}/${name}`);
  assert.equal(
    await pushMigrations(stack.databaseUrl, undefined, Deno.env.get("LOGLOOM_PROJECT")),
    null,
  );
  await installLayer(sql);
  isOver = true;
  await asking;
  assert.deepEqual(await answers(), before);
  const there = await onNodes(sql);
  await callAsOwner(sql, `select logloom_citus.enable(${localShards})`);
  assert.deepEqual(there, await onNodes(sql), "enable() has nothing left to do");
  const replaced = await sql`
    select s.seam from unnest(logloom_citus.seams()) s (seam)
    join pg_proc core on core.oid = to_regprocedure('logloom_private.' || s.seam)
    join pg_proc layer on layer.oid = to_regprocedure('logloom_citus.' || s.seam)
    where core.prosrc <> layer.prosrc`;
  assert.deepEqual([...replaced], [], "the layer's functions replace the core's");
  console.log(`asked ${asked} times: ${await load.end()}`);
  await assertNothingLost(sql, load.senders);
});

Deno.test("uninstalling removes the service from the nodes, too", async () => {
  await using sql = openDatabase();
  const left = () =>
    sql`
      select r.success, r.result
      from run_command_on_workers($$
        select coalesce(string_agg(t.thing, ', ' order by t.thing), 'nothing')
        from (
          select 'schema ' || n.nspname from pg_namespace n where n.nspname ~ '^logloom'
          union all
          select 'type ' || t.typname from pg_type t where t.typname ~ '^_?logloom'
          union all
          select 'setting ' || unnest(s.setconfig)
          from pg_db_role_setting s where s.setrole = 'postgres'::regrole
        ) t (thing)
      $$) r`;
  const [{ settings }] = await sql`
    select s.setconfig as settings from pg_db_role_setting s
    where s.setrole = 'postgres'::regrole and s.setdatabase = 0`;
  const own = settings.filter((text: string) => !text.startsWith("citus."));
  assert.equal(await uninstall(stack.databaseUrl, ours, () => {}), true);
  const nothing = {
    success: true,
    result: own.map((text: string) => `setting ${text}`).join(", "),
  };
  assert.deepEqual([...await left()], [nothing, nothing]);
});
