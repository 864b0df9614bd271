import assert from "node:assert/strict";
import { health, newTenant, type Tenant } from "../support/client.ts";
import { changeSettings, type Database, openDatabase, stopWriter } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { isBack, killProcess, signalIfThere, stackState } from "../support/processes.ts";
import { complete, outcomeOf, Sender } from "../support/sender.ts";
import { onNode } from "./node_database.ts";

const settled = 120_000;
const nodes = ["postgres", "postgres-1", "postgres-2"] as const;

/** As many tenants as it takes for a step to reach both workers. */
async function senders(sql: Database): Promise<{ tenant: Tenant; sender: Sender }[]> {
  const found = [];
  const workers = new Set<number>();
  while (found.length < 3 || workers.size < 2) {
    const tenant = await newTenant();
    const [{ nodeport }] = await sql`
      select p.nodeport
      from pg_dist_shard_placement p
      where p.shardid = get_shard_id_for_distribution_column('logloom.logs', ${tenant.id}::text)`;
    workers.add(nodeport);
    found.push({ tenant, sender: new Sender(tenant, { eventsPerRequest: 500 }) });
  }
  return found;
}

async function portsOfWorkers(sql: Database): Promise<number[]> {
  const rows = await sql`select n.nodeport from pg_dist_node n where n.groupid > 0 order by 1`;
  return rows.map(({ nodeport }) => nodeport as number);
}

/** The transactions of the service that wait on the nodes for what the coordinator decided. */
async function prepared(ports: number[]): Promise<number> {
  let count = 0;
  for (const port of ports) {
    await using sql = onNode(port);
    const [row] = await sql`select count(*)::integer from pg_prepared_xacts`;
    count += row.count;
  }
  return count;
}

async function assertNothingLost(sql: Database, sent: Awaited<ReturnType<typeof senders>>) {
  for (const { tenant, sender } of sent) {
    assert.ok(sender.acknowledged > 0);
    assert.deepEqual(await outcomeOf(sql, tenant, settled), complete(sender));
    const [{ counted }] = await sql`
      select sum(c.events)::integer as counted from logloom_private.log_counts c
      where c.tenant_id = ${tenant.id}`;
    assert.equal(counted, sender.acknowledged, "the counts changed with the records");
  }
  await eventually("health is healthy", async () => {
    const { status, body } = await health("/ready");
    return status === 200 && body.status === "healthy";
  }, { within: settled });
}

for (const name of nodes) {
  Deno.test(`${name} killed in the middle of a step loses and doubles nothing`, async () => {
    await using sql = openDatabase(undefined, 2, { isCut: true });
    const sent = await senders(sql);
    {
      await using _writer = await stopWriter(sql);
      for (const { sender } of sent) await sender.send(15);
    }
    await eventually("the writer writes", async () => {
      const [writer] = await sql`
        select from pg_stat_activity
        where query = 'call logloom_private.write_logs()' and state = 'active'
          and backend_xid is not null`;
      return writer !== undefined;
    }, { every: 1, within: settled });
    await isBack(name, await killProcess(name));
    for (const { sender } of sent) await sender.send(2);
    await sql`select recover_prepared_transactions()`;
    await assertNothingLost(sql, sent);
  });
}

for (const name of nodes) {
  Deno.test(`${name} killed between prepare and commit loses and doubles nothing`, async () => {
    await using sql = openDatabase(undefined, 2, { isCut: true });
    const ports = await portsOfWorkers(sql);
    const sent = await senders(sql);
    // Many small steps: each prepares.
    await using _steps = await changeSettings(sql, {
      writer_step_events: 500,
      writer_step_batches: 3,
    });
    let caught = 0;
    for (let round = 0; round < 40 && caught === 0; round++) {
      {
        await using _writer = await stopWriter(sql);
        for (const { sender } of sent) await sender.send(8);
      }
      const victim = (await stackState()).processes[name];
      {
        await using worker = onNode(ports[round % ports.length]);
        let asked = 0;
        const writer = await eventually("a node has prepared", async () => {
          const [row] = await worker`
            select split_part(x.gid, '_', 3)::integer as pid from pg_prepared_xacts x`;
          if (row || ++asked % 50 !== 0) return row?.pid as number | undefined;
          // Each step was over before it was seen.
          const [{ depth }] = await sql`select depth::integer from logloom_private.queue_state()`;
          return depth === 0 ? "missed" : undefined;
        }, { every: 1, within: settled });
        if (writer === "missed") continue;
        // A server's backends outlive it for a moment: the one that decides goes first.
        if (name === "postgres") signalIfThere(writer, "SIGKILL");
        signalIfThere(victim.pid, "SIGKILL");
      }
      // A coordinator that is back settles at once what its workers wait with.
      if (name === "postgres") caught += await prepared(ports);
      await isBack(name, victim);
      if (name !== "postgres") caught += await prepared(ports);
      await eventually("the coordinator told the nodes what it had decided", async () => {
        await sql`select recover_prepared_transactions()`;
        return await prepared(ports) === 0;
      }, { within: settled });
    }
    assert.ok(caught > 0, "a kill came between prepare and commit");
    await assertNothingLost(sql, sent);
  });
}
