import assert from "node:assert/strict";
import { type Database, openDatabase, queueIsEmpty } from "../../tests/support/database.ts";
import { freePort } from "../../tests/support/free_port.ts";
import { eventually } from "../../tests/support/eventually.ts";
import { outcomeOf } from "../../tests/support/sender.ts";
import { assertNothingLost, countedOf, startLoad } from "./load.ts";
import { databaseUrl } from "../../local/stack.ts";
import { onNode, shardedTables } from "./node_database.ts";
import { makeCluster } from "../../local/database.ts";
import { localShards } from "../local/nodes.ts";
import { firstNode, workerNodes } from "../../local/processes/postgres.ts";
import { copyOf, server, stack, startBeside, system } from "../../tests/support/second_server.ts";

// Runs the operations of docs/guides/scaling.md while events arrive and are searched.

const coordinator = firstNode(system, stack);
const workers = workerNodes(system, stack, 2);
/** The port and folder for one more worker. */
const third = workerNodes(system, stack, 3)[2];

async function shardsOn(sql: Database, port: number): Promise<number> {
  const [{ shards }] = await sql`
    select count(*)::integer as shards
    from pg_dist_shard_placement p
    join pg_dist_shard s on s.shardid = p.shardid
    where s.logicalrelid = 'logloom.logs'::regclass and p.nodeport = ${port}`;
  return shards;
}

async function timed(work: () => Promise<unknown>): Promise<string> {
  const began = performance.now();
  await work();
  return `${((performance.now() - began) / 1000).toFixed(1)} s`;
}

Deno.test("a node is added, gets the shard of one tenant, and is removed", async (t) => {
  await using sql = openDatabase();
  await makeCluster(system, third.data);
  await using _server = await startBeside([server(third, {}, true)]);
  {
    await using node = onNode(third.port);
    await node`create extension citus`;
  }

  await t.step("shards move to it while events arrive and are searched", async () => {
    await using load = await startLoad();
    await sql`select citus_add_node('127.0.0.1', ${third.port})`;
    assert.equal(await shardsOn(sql, third.port), 0);
    const took = await timed(async () => {
      await sql`select citus_rebalance_start()`;
      await eventually("the shards have moved", async () => {
        const [job] = await sql`select state from citus_rebalance_status()`;
        assert.ok(!["failed", "cancelled"].includes(job.state), job.state);
        return job.state === "finished";
      }, { every: 250 });
    });
    console.log(`rebalancing took ${took}: ${await load.end()}`);
    assert.ok(await shardsOn(sql, third.port) > 0);
    await assertNothingLost(sql, load.senders);
  });

  await t.step(
    "a tenant's rows of all tables move to their own shard and to another node",
    async () => {
      await using load = await startLoad();
      const { tenant } = load.senders[0];
      await eventually(
        "it has sent events",
        () => Promise.resolve(load.senders[0].acknowledged > 0),
      );
      const isolated = await timed(() =>
        sql`
        select isolate_tenant_to_new_shard(
          'logloom.logs', ${tenant.id}::text, 'CASCADE', shard_transfer_mode := 'block_writes'
        )`
      );
      const placement = sql`
      select p.shardid, p.nodeport from pg_dist_shard_placement p
      where p.shardid = get_shard_id_for_distribution_column('logloom.logs', ${tenant.id}::text)`;
      const [{ shardid, nodeport }] = await placement;
      const target = nodeport === third.port ? workers[0].port : third.port;
      const moved = await timed(() =>
        sql`
        select citus_move_shard_placement(
          ${shardid}::bigint, '127.0.0.1', ${nodeport}, '127.0.0.1', ${target}
        )`
      );
      console.log(`isolating took ${isolated}, moving ${moved}: ${await load.end()}`);
      const rows = await sql`
      select s.logicalrelid::text as name
      from pg_dist_shard s
      join pg_class c on c.oid = s.logicalrelid and not c.relispartition
      join pg_dist_shard_placement p on p.shardid = s.shardid
      where p.nodeport = ${target} and s.shardminvalue = s.shardmaxvalue
      order by s.logicalrelid::text collate "C"`;
      assert.deepEqual(rows.map(({ name }) => name), shardedTables);
      await assertNothingLost(sql, load.senders);
      await using owner = openDatabase(databaseUrl("postgres", coordinator.port, "postgres"));
      const [{ again }] = await owner`select logloom_citus.enable(${localShards}) as again`;
      assert.deepEqual(again, [], "enable() has nothing to do");
    },
  );

  await t.step("a shard is split while events arrive and are searched", async () => {
    await using load = await startLoad();
    const { tenant } = load.senders[0];
    await eventually("it has sent events", () => Promise.resolve(load.senders[0].acknowledged > 0));
    const shards = () =>
      sql`select s.shardid from pg_dist_shard s where s.logicalrelid = 'logloom.logs'::regclass`;
    const { length: before } = await shards();
    const split = await timed(() =>
      sql`
        select citus_split_shard_by_split_points(
          s.shardid, array[((s.shardminvalue::bigint + s.shardmaxvalue::bigint) / 2)::text],
          array[n.nodeid, n.nodeid], 'block_writes'
        )
        from pg_dist_shard s
        join pg_dist_shard_placement p on p.shardid = s.shardid
        join pg_dist_node n on n.nodename = p.nodename and n.nodeport = p.nodeport
        where s.shardid = get_shard_id_for_distribution_column('logloom.logs', ${tenant.id}::text)`
    );
    console.log(`splitting took ${split}: ${await load.end()}`);
    assert.equal((await shards()).length, before + 1);
    await assertNothingLost(sql, load.senders);
  });

  await t.step("its shards move to the other nodes and it is removed", async () => {
    await using load = await startLoad();
    const took = await timed(() => sql`select citus_drain_node('127.0.0.1', ${third.port})`);
    assert.equal(await shardsOn(sql, third.port), 0);
    await sql`select citus_remove_node('127.0.0.1', ${third.port})`;
    console.log(`draining took ${took}: ${await load.end()}`);
    await assertNothingLost(sql, load.senders);
  });
});

Deno.test("all nodes are restored to one point, with everything acknowledged before it", async () => {
  await using sql = openDatabase();
  const nodes = [coordinator, ...workers];
  await using load = await startLoad();
  const copies: Awaited<ReturnType<typeof copyOf>>[] = [];
  const backup = await timed(async () => {
    for (const node of nodes) copies.push(await copyOf(node, freePort()));
  });
  await eventually(
    "events arrived after the backups",
    () => Promise.resolve(load.senders.every(({ acknowledged }) => acknowledged > 200)),
  );
  const before = load.senders.map(({ acknowledged }) => acknowledged);
  const point = await timed(() => sql`select citus_create_restore_point('nightly')`);
  const reached = load.senders.map(({ acknowledged }) => acknowledged);
  await eventually(
    "events arrived after the restore point",
    () =>
      Promise.resolve(load.senders.every(({ acknowledged }, n) => acknowledged > reached[n] + 100)),
  );
  const summary = await load.end();
  for (const { port } of nodes) {
    await using node = onNode(port);
    await node`select pg_switch_wal()`;
  }

  const began = performance.now();
  for (const { data } of copies) {
    await system.writeFile("postgres", `${data}/recovery.signal`, "");
  }
  await using _servers = await startBeside(copies.map((node, n) =>
    server(node, {
      restore_command: `cp ${nodes[n].data}/pg_wal/%f "%p"`,
      recovery_target_name: "nightly",
      recovery_target_action: "promote",
      // Until citus_update_node below, the copy would connect to the original's nodes.
      "citus.recover_2pc_interval": "-1",
      "cron.launch_active_jobs": "off",
    }, true)
  ));
  for (const { port } of copies) {
    await eventually("the node is at the point", async () => {
      await using node = onNode(port);
      const [{ is_recovering }] = await node`select pg_is_in_recovery() as is_recovering`;
      return !is_recovering;
    });
  }
  await using restored = onNode(copies[0].port);
  await restored`select citus_set_coordinator_host('127.0.0.1', ${copies[0].port})`;
  for (const [n, { port }] of workers.entries()) {
    await restored`
      select citus_update_node(d.nodeid, '127.0.0.1', ${copies[n + 1].port})
      from pg_dist_node d where d.nodeport = ${port}`;
  }
  await restored`select recover_prepared_transactions()`;
  await using owner = openDatabase(databaseUrl("postgres", copies[0].port, "postgres"), 1, {
    isCut: true,
  });
  await eventually("the queue is written", async () => {
    await owner`call logloom_private.run_job('write_logs')`;
    const [{ depth }] = await restored`select depth::integer from logloom_private.queue_state()`;
    return depth === 0;
  });
  console.log(
    `backup ${backup}, restore point ${point}, restore ${
      ((performance.now() - began) / 1000).toFixed(1)
    } s: ${summary}`,
  );
  for (const [n, { tenant, acknowledged }] of load.senders.entries()) {
    const { records, numbers } = await outcomeOf(restored, tenant);
    assert.equal(records, numbers, "nothing twice");
    assert.ok(records >= before[n], "everything acknowledged before the point");
    assert.ok(records < acknowledged, "and nothing after it");
    assert.equal(await countedOf(restored, tenant), records, "the counts are from the same moment");
  }
  await queueIsEmpty(sql);
  await assertNothingLost(sql, load.senders);
});
