import assert from "node:assert/strict";
import postgres from "postgres";
import { ingest, newTenant } from "../../tests/support/client.ts";
import {
  callAsOwner,
  countRecords,
  openDatabase,
  queueIsEmpty,
  recordsOf,
  stopWriter,
} from "../../tests/support/database.ts";
import { eventually } from "../../tests/support/eventually.ts";
import { stack } from "../../tests/support/stack.ts";
import { localShards } from "../local/nodes.ts";
import { nodeOf, shardedTables } from "./node_database.ts";

async function refusal(work: Promise<unknown>): Promise<{ code: string; message: string }> {
  const { code, message } = await errorOf(work);
  return { code, message };
}

async function errorOf(work: Promise<unknown>): Promise<postgres.PostgresError> {
  const error = await work.then(() => undefined, (error) => error as postgres.PostgresError);
  assert.ok(error, "it was refused");
  return error;
}

Deno.test("records, counts and blocks are colocated on the nodes, all other tables are on the coordinator", async () => {
  await using sql = openDatabase();
  const rows = await sql`
    select p.logicalrelid::text as name, c.shardcount,
      column_to_column_name(p.logicalrelid, p.partkey) as column,
      p.colocationid = (select o.colocationid from pg_dist_partition o
        where o.logicalrelid = 'logloom.logs'::regclass) as together
    from pg_dist_partition p
    join pg_dist_colocation c on c.colocationid = p.colocationid
    join pg_class t on t.oid = p.logicalrelid
    where not t.relispartition
    order by p.logicalrelid::text collate "C"`;
  assert.deepEqual(
    rows.map((row) => ({ ...row })),
    shardedTables.map((name) => ({
      name,
      shardcount: localShards,
      column: "tenant_id",
      together: true,
    })),
  );
  const [{ alone }] = await sql`
    select count(*)::integer as alone
    from pg_inherits i
    where i.inhparent = 'logloom.logs'::regclass
      and not exists (select from pg_dist_partition p where p.logicalrelid = i.inhrelid)`;
  assert.equal(alone, 0, "each day's partition is sharded like its parent");
});

Deno.test("a second enable() shards nothing, and a later day is sharded like the others", async () => {
  await using sql = openDatabase(stack.databaseUrl);
  const [{ again }] = await sql`select logloom_citus.enable(${localShards}) as again`;
  assert.deepEqual(again, []);
  const [{ shards }] = await sql.begin(async (sql) => {
    await sql`select logloom_private.create_partition('2020-02-29')`;
    const rows = await sql<{ shards: number }[]>`
      select count(*)::integer as shards from pg_dist_shard s
      where s.logicalrelid = 'logloom.logs_2020_02_29'::regclass`;
    await sql`drop table logloom.logs_2020_02_29`;
    return rows;
  });
  assert.equal(shards, localShards);
});

Deno.test("a migration that changes records and adds a type and a function reaches every node", async () => {
  await using sql = openDatabase(stack.databaseUrl, 1);
  const tenant = await newTenant();
  await ingest(tenant.headers, JSON.stringify({ msg: "as it was sent" }));
  await using admin = openDatabase();
  await recordsOf(admin, tenant.id, 1);
  try {
    await sql.begin(async (sql) => {
      await sql`select logloom_private.hold_writers()`;
      await sql`alter table logloom.logs add column later text default 'added'`;
      await sql`create type logloom_private.later_type as (word text)`;
      await sql`
        create function logloom_private.later(p_msg text) returns logloom_private.later_type
        language plpgsql immutable set search_path = pg_catalog, pg_temp
        as 'begin return row(p_msg)::logloom_private.later_type; end'`;
      await sql`select logloom_private.finish_migration()`;
    });
    const rows = await sql`
      select l.later, (logloom_private.later(l.msg)).word from logloom.logs l
      where l.tenant_id = ${tenant.id}`;
    assert.deepEqual([...rows], [{ later: "added", word: "as it was sent" }]);
  } finally {
    await sql.begin(async (sql) => {
      await sql`select logloom_private.hold_writers()`;
      await sql`alter table logloom.logs drop column if exists later`;
      await sql`drop function if exists logloom_private.later(text)`;
      await sql`drop type if exists logloom_private.later_type`;
    });
  }
});

Deno.test("enable() refuses another number of shards, and an invalid one", async () => {
  await using sql = openDatabase(stack.databaseUrl);
  assert.deepEqual(await refusal(sql`select logloom_citus.enable(9)`.execute()), {
    code: "55000",
    message: `logloom.logs is already sharded, over ${localShards} shards`,
  });
  assert.deepEqual(await refusal(sql`select logloom_citus.enable(0)`.execute()), {
    code: "22023",
    message: "Invalid p_shards: 1 to 1024",
  });
});

Deno.test("the hint about another number of shards suggests nothing that would drop functions", async () => {
  await using sql = openDatabase(stack.databaseUrl);
  const { hint = "" } = await errorOf(sql`select logloom_citus.enable(9)`.execute());
  assert.match(hint, new RegExp(`^Call it with ${localShards}\\. `));
  await using admin = openDatabase();
  const kept = admin.begin(async (admin) => {
    await admin`select logloom_private.hold_writers()`;
    await admin`select undistribute_table('logloom.logs')`;
    const [{ functions }] = await admin`
      select count(*)::integer as functions from pg_proc p
      where p.pronamespace = 'logloom_private'::regnamespace and p.proname = 'sealed_page'`;
    throw new Error(`${functions} left`);
  });
  // If a version of Citus ever keeps the function, the hint may suggest this call.
  assert.equal((await errorOf(kept)).message, "0 left");
});

Deno.test("only the owner may use the layer", async () => {
  await using sql = openDatabase();
  const rows = await sql`
    select r.rolname from pg_roles r
    where r.rolname in ('anon', 'authenticated', 'service_role', 'authenticator')
      and has_schema_privilege(r.oid, 'logloom_citus', 'usage')`;
  assert.deepEqual([...rows], []);
});

Deno.test("repair() restores PostgREST's pre-request check, which no node has", async () => {
  await using sql = openDatabase(undefined, 1);
  await sql`set citus.enable_alter_role_set_propagation = off`;
  await sql`alter role authenticator reset pgrst.db_pre_request`;
  await callAsOwner(sql, "select logloom_private.repair()");
  const [{ settings }] = await sql`
    select s.setconfig as settings from pg_db_role_setting s
    where s.setrole = 'authenticator'::regrole and s.setdatabase = 0`;
  assert.ok(settings.includes("pgrst.db_pre_request=logloom_private.check_request"));
});

Deno.test("a tenant's records are on one node, and both nodes have records of tenants", async () => {
  await using sql = openDatabase();
  const nodes = new Set<number>();
  for (let n = 0; n < 8; n++) {
    const tenant = await newTenant();
    await ingest(tenant.headers, JSON.stringify([{ msg: "one" }, { msg: "two" }]));
    await recordsOf(sql, tenant.id, 2);
    nodes.add(await nodeOf(sql, tenant));
  }
  assert.equal(nodes.size, 2);
});

/** Opens a connection of the service's owner and records the commands that it sends to the nodes. */
async function withNodeLog(): Promise<{ sql: postgres.Sql; told: string[] }> {
  const told: string[] = [];
  const sql = postgres(stack.databaseUrl, {
    max: 1,
    onnotice: ({ message = "" }) => told.push(message),
  });
  await sql`set client_min_messages = log`;
  await sql`set citus.log_remote_commands = on`;
  return { sql, told };
}

Deno.test("a search asks the node for rows, and for sealed records only if the day is over", async () => {
  const tenant = await newTenant();
  await using db = openDatabase();
  await ingest(tenant.headers, JSON.stringify([{ level: "error", msg: "one" }, { msg: "two" }]));
  await recordsOf(db, tenant.id, 2);
  const search = async (from: Date) => {
    const { sql, told } = await withNodeLog();
    try {
      const [{ found }] = await sql.begin("isolation level repeatable read", async (sql) => {
        await sql`select set_config('request.jwt.claims', ${
          atob(tenant.token.split(".")[1])
        }, true)`;
        await sql`set local role authenticated`;
        return await sql`
          select cardinality(p.logs) as found
          from public.search_logs('level:error', p_ts_from => ${from.toISOString()}) p`;
      });
      assert.equal(found, 1);
    } finally {
      await sql.end();
    }
    assert.deepEqual(told.filter((line) => line.startsWith("issuing ROLLBACK")), []);
    // Records come as columns, because a node sends a composite as text.
    const records = told.filter((line) => line.includes("logloom_log_record"));
    assert.deepEqual(
      records.filter((line) => !/^issuing SELECT \(record\)\.id AS id,/.test(line)),
      [],
    );
    const begun = told.filter((line) => line.startsWith("issuing BEGIN")).length;
    const read = told.flatMap((line) =>
      /^issuing SELECT\b.*? FROM (\w+\.[a-z_]+)_\d+ /.exec(line)?.slice(1) ?? []
    );
    return { begun, read };
  };
  const dayBegan = new Date(new Date().setUTCHours(0, 0, 0, 0));
  // A single statement needs no transaction on the node.
  assert.deepEqual(await search(dayBegan), { begun: 0, read: ["logloom.logs"] });
  const hoursAgo = new Date(Math.min(Date.now() - 3_600_000, dayBegan.getTime() - 1));
  assert.deepEqual(await search(hoursAgo), {
    begun: 1,
    read: ["logloom_private.blocks", "logloom.logs"],
  });
});

Deno.test("records of overlapping batches are stored in the order in which a search reads them", async () => {
  const tenant = await newTenant();
  await using sql = openDatabase();
  const began = Date.now() - 10_000;
  const send = (milliseconds: number[]) =>
    ingest(
      tenant.headers,
      JSON.stringify(
        milliseconds.map((ms) => ({ ts: new Date(began + ms).toISOString(), msg: `${ms}` })),
      ),
    );
  {
    await using _writer = await stopWriter(sql);
    await send([0, 3, 6]);
    await send([1, 4, 7]);
    await send([2, 5, 8]);
  }
  await recordsOf(sql, tenant.id, 9);
  const rows = await sql`
    select r.result
    from run_command_on_shards('logloom.logs', ${`
      select string_agg(l.msg, '' order by l.tableoid, l.ctid) from %s l
      where l.tenant_id = '${tenant.id}'`}) r
    where r.result <> ''`;
  assert.deepEqual(rows.map(({ result }) => result), ["012345678"]);
});

Deno.test("a step on one node is prepared there before the coordinator commits", async () => {
  // Without this, a kill between the two commits would repeat the step.
  const tenant = await newTenant();
  await using db = openDatabase();
  const { sql, told } = await withNodeLog();
  try {
    await using _writer = await stopWriter(db);
    await ingest(tenant.headers, JSON.stringify({ msg: "one" }));
    await eventually("the writer moved it", async () => {
      await sql`call logloom_private.run_job('write_logs')`;
      return await countRecords(db, tenant.id) === 1;
    });
  } finally {
    await sql.end();
  }
  const commands = told.map((line) =>
    /(PREPARE TRANSACTION|COMMIT PREPARED|COMMIT$)/.exec(line)?.[1]
  );
  const seen = commands.filter((command) => command !== undefined);
  assert.equal(seen.indexOf("PREPARE TRANSACTION"), 0, seen.join(", "));
  assert.ok(seen.includes("COMMIT PREPARED"), seen.join(", "));
});

Deno.test("a step that notes no new day of a tenant is prepared once on each node that it writes to", async () => {
  await using db = openDatabase();
  // Tenants are on both nodes, except once in 500,000 runs.
  const tenants = await Promise.all(Array.from({ length: 20 }, () => newTenant()));
  const send = async () => {
    for (const { headers } of tenants) await ingest(headers, JSON.stringify({ msg: "one" }));
  };
  // A tenant's first step of a day also notes the day.
  await send();
  await queueIsEmpty(db);
  const { sql, told } = await withNodeLog();
  try {
    await using _writer = await stopWriter(db);
    await send();
    await eventually("the writer moved them", async () => {
      await sql`call logloom_private.run_job('write_logs')`;
      return await countRecords(db, tenants[19].id) === 2;
    });
  } finally {
    await sql.end();
  }
  const ends = told.flatMap((line) =>
    /^issuing (PREPARE TRANSACTION|COMMIT$)/.exec(line)?.[1] ?? []
  );
  assert.deepEqual(ends, ["PREPARE TRANSACTION", "PREPARE TRANSACTION"]);
});
