import assert from "node:assert/strict";
import { pushMigrations } from "../../local/database.ts";
import { dumpInto, dumps, restoreFrom } from "../../local/restore.ts";
import { checkout } from "../../local/stack.ts";
import { createKey, health, ingest, newTenant, rpc, type Tenant } from "../support/client.ts";
import { type Database, openDatabase, queueIsEmpty, recordsOf } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { stack, system } from "../support/second_server.ts";
import { beginAnew } from "./begin_anew.ts";

// After this test the stack uses the restored database, also for the following tests.

/** Reads the commands for backup and restore from the manual: the dumps and their files, and the order of restoring. */
async function manual(): Promise<
  { dumps: { file: string; options: string[] }[]; files: string[] }
> {
  const page = await Deno.readTextFile(`${checkout}/docs/guides/operations.md`);
  const section = page.slice(page.indexOf("## Backup and restore"));
  const dumps = [...section.matchAll(/^\$ npx supabase db dump --remote (.*)-f (\S+)$/gm)]
    .map(([, options, file]) => ({ file, options: options.trim().split(" ").filter(Boolean) }));
  const psql = /^\$ psql "\$DATABASE_URL" (.*)$/m.exec(section)?.[1] ?? "";
  return { dumps, files: [...psql.matchAll(/-f (\S+)/g)].map(([, file]) => file) };
}

async function tenantWithRecords(sql: Database): Promise<Tenant> {
  const tenant = await newTenant("restored");
  await createKey(tenant);
  const events = Array.from({ length: 200 }, (_, n) => ({
    ts: new Date(Date.now() - n * 60_000).toISOString(),
    level: ["info", "error"][n % 2],
    service: "shop",
    msg: `order ${n} with a 'quote' and a \\ in it`,
    n,
  }));
  assert.equal((await ingest(tenant.headers, events)).status, 200);
  await recordsOf(sql, tenant.id, events.length);
  return tenant;
}

async function read(tenant: Tenant): Promise<unknown[]> {
  const range = { p_ts_from: "2020-01-01T00:00:00Z", p_ts_to: "2100-01-01T00:00:00Z" };
  const answers: unknown[] = [];
  for (
    const [operation, parameters] of [
      ["get_current_tenant", {}],
      ["list_api_keys", {}],
      ["search_logs", { p_query_dsl: "service:shop", p_limit: 50, ...range }],
      ["log_stats", { p_query_dsl: "service:shop | count() by level", ...range }],
    ] as const
  ) {
    const { status, body } = await rpc<unknown>(tenant.token, operation, parameters);
    assert.equal(status, 200, `${operation}: ${JSON.stringify(body)}`);
    // A cursor contains the time of its first page.
    const { next_cursor: _cursor, ...rest } = Object(body);
    answers.push(Array.isArray(body) ? body : rest);
  }
  return answers;
}

function publicGrants(sql: Database) {
  return sql`
    select p.oid::regprocedure::text as operation,
      array(
        select distinct case a.grantee when 0 then 'public' else a.grantee::regrole::text end
        from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
        where a.grantee <> p.proowner
        order by 1
      ) as roles
    from pg_proc p
    where p.pronamespace = 'public'::regnamespace
      and p.proname = any (logloom_private.operations())
    order by 1`;
}

const jobs = (sql: Database) =>
  sql`select jobname, schedule, command, active from cron.job order by jobname`;

const history = (sql: Database) =>
  sql`select version, name from supabase_migrations.schema_migrations order by version`;

const writeSeq = async (sql: Database): Promise<bigint> => {
  const [{ last }] = await sql`select last_value::text as last from logloom_private.write_seq`;
  return BigInt(last);
};

Deno.test("a restored and repaired dump gives the same answers as the original", async () => {
  const before = openDatabase();
  const tenant = await tenantWithRecords(before);
  await queueIsEmpty(before);
  const expected = await read(tenant);
  const [grants, scheduled, written, applied] = [
    await publicGrants(before),
    await jobs(before),
    await writeSeq(before),
    await history(before),
  ];
  assert.deepEqual(await manual(), { dumps, files: dumps.map(({ file }) => file) });
  const folder = `${system.folder(stack)}/dump`;
  await dumpInto(system, stack.databaseUrl, folder);
  await before.end();
  await beginAnew(stack);
  await restoreFrom(system, folder, stack.databaseUrl, `${stack.folder}/logs/restore`);

  await using sql = openDatabase();
  assert.ok(applied.length > 2);
  assert.deepEqual(await history(sql), applied);
  assert.equal(await pushMigrations(stack.databaseUrl), null, "none is applied again");
  assert.deepEqual(await history(sql), applied);
  const unrepaired = await publicGrants(sql);
  assert.ok(
    unrepaired.some(({ roles }) => (roles as string[]).includes("anon")),
    "a restore gives away what the repair takes back",
  );
  assert.deepEqual(
    (await jobs(sql)).filter(({ jobname }) => jobname.startsWith("logloom_")),
    [],
    "a restore has no jobs",
  );
  await sql`notify pgrst, 'reload schema'`;
  await eventually("health tells of it", async () => {
    const { status, body } = await health("/detailed");
    const { installation } = body.checks as Record<string, unknown>;
    assert.deepEqual(installation, {
      status: "unhealthy",
      state: "restored, not repaired",
      reason:
        "Restored from a dump and not repaired: see Backup and restore in docs/guides/operations.md",
    });
    return status === 503 && body.status === "unhealthy";
  });

  await using owner = openDatabase(stack.databaseUrl, 1);
  for (let time = 0; time < 2; time++) {
    assert.deepEqual([...await owner`select logloom_private.repair()`], [{ repair: "repaired" }]);
    assert.deepEqual(await publicGrants(sql), grants);
    assert.deepEqual(await jobs(sql), scheduled);
    assert.ok(await writeSeq(sql) >= written);
  }
  await eventually("health is healthy", async () => {
    const { status, body } = await health("/detailed");
    const { installation } = body.checks as Record<string, unknown>;
    assert.deepEqual(installation, { status: "healthy", state: "installed" });
    return status === 200 && body.status === "healthy";
  });
  assert.deepEqual(await read(tenant), expected);
  await eventually(
    "the check before a request is back",
    async () => (await rpc(null, "search_logs")).status === 400,
  );

  const events = [{ msg: "after the restore", service: "later" }];
  assert.equal((await ingest(tenant.headers, events)).status, 200);
  await eventually("the job writes it", async () => {
    const { body } = await rpc<{ logs?: unknown[] }>(tenant.token, "search_logs", {
      p_query_dsl: "service:later",
    });
    return JSON.stringify(body).includes("after the restore");
  });
});
