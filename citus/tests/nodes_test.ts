import assert from "node:assert/strict";
import { type Answer, assertRpcError, health, newTenant, rpc } from "../../tests/support/client.ts";
import { type Database, openDatabase, stopJob, stopWriter } from "../../tests/support/database.ts";
import { eventually } from "../../tests/support/eventually.ts";
import {
  freezePostgres,
  isBack,
  keepDown,
  killProcess,
  signalIfThere,
  stackState,
} from "../../tests/support/processes.ts";
import { outcomeOf, Sender } from "../../tests/support/sender.ts";
import { stack } from "../../tests/support/stack.ts";
import { assertNothingLost } from "./load.ts";
import { nodeOf, onNode } from "./node_database.ts";

const nodes = ["postgres", "postgres-1", "postgres-2"] as const;

/** Makes senders for three tenants or more, until both workers have a tenant. */
async function senders(sql: Database): Promise<Sender[]> {
  const found: Sender[] = [];
  const workers = new Set<number>();
  while (found.length < 3 || workers.size < 2) {
    const tenant = await newTenant();
    workers.add(await nodeOf(sql, tenant));
    found.push(new Sender(tenant, { eventsPerRequest: 500 }));
  }
  return found;
}

async function portsOfWorkers(sql: Database): Promise<number[]> {
  const rows = await sql`select n.nodeport from pg_dist_node n where n.groupid > 0 order by 1`;
  return rows.map(({ nodeport }) => nodeport as number);
}

/** Counts prepared transactions on the nodes, which wait for the coordinator's decision. */
async function prepared(ports: number[]): Promise<number> {
  let count = 0;
  for (const port of ports) {
    await using sql = onNode(port);
    const [row] = await sql`select count(*)::integer from pg_prepared_xacts`;
    count += row.count;
  }
  return count;
}

async function assertHealthy(sql: Database, sent: Sender[]): Promise<void> {
  await assertNothingLost(sql, sent);
  await eventually("health is healthy", async () => {
    const { status, body } = await health("/ready");
    return status === 200 && body.status === "healthy";
  });
}

for (const name of nodes) {
  Deno.test(`killing ${name} in the middle of a step loses and doubles nothing`, async () => {
    await using sql = openDatabase(undefined, 2, { isCut: true });
    const sent = await senders(sql);
    {
      await using _writer = await stopWriter(sql);
      for (const sender of sent) await sender.send(15);
    }
    await eventually("the writer writes", async () => {
      const [writer] = await sql`
        select from pg_stat_activity
        where query like '%logloom_private.work(''write'')%' and state = 'active'
          and backend_xid is not null`;
      return writer !== undefined;
    }, { every: 1 });
    await isBack(name, await killProcess(name));
    for (const sender of sent) await sender.send(2);
    await sql`select recover_prepared_transactions()`;
    await assertHealthy(sql, sent);
  });
}

/** Returns a sender whose tenant is on the first worker and has sent events. */
async function senderOfFirstWorker(sql: Database): Promise<Sender> {
  const [first] = await portsOfWorkers(sql);
  while (true) {
    const tenant = await newTenant();
    if (await nodeOf(sql, tenant) !== first) continue;
    const sender = new Sender(tenant, { eventsPerRequest: 10 });
    await sender.send(1);
    await outcomeOf(sql, tenant);
    return sender;
  }
}

const recordsAreAway = "The server that has these records does not answer";

/** The queue is on the coordinator, so health knows it while a node is away. */
function assertHealthKnowsTheQueue({ body }: Answer): void {
  const { queue, writer } = body.checks as Record<string, Record<string, unknown>>;
  assert.ok(Number.isInteger(queue.depth), JSON.stringify(body));
  assert.notEqual(writer.last_run, null);
}

Deno.test("while a node is away its tenants get an error without its address, and health answers", async () => {
  await using sql = openDatabase(undefined, 2, { isCut: true });
  const sender = await senderOfFirstWorker(sql);
  const { token } = sender.tenant;
  const saved = await rpc<string>(token, "create_saved_search", {
    p_name: "all",
    p_query_dsl: "*",
  });
  const id = crypto.randomUUID();
  const daysAgo = new Date(Date.now() - 3 * 86_400_000).toISOString();
  const asked: [string, Record<string, unknown>][] = [
    ["search_logs", {}],
    ["search_logs", { p_ts_from: daysAgo }],
    ["log_stats", { p_query_dsl: "info | count() by service" }],
    ["log_histogram", {}],
    ["log_series", { p_query_dsl: "info | count()" }],
    ["list_log_fields", {}],
    ["get_log", { p_id: id }],
    ["get_log_context", { p_id: id }],
    ["tail_logs", { p_backlog: 5 }],
    ["run_saved_search", { p_id: saved.body }],
    ["preview_alert_rule", {
      p_query_dsl: "*",
      p_threshold: 1,
      p_comparison: "gt",
      p_window_minutes: 5,
    }],
    ["delete_logs", { p_query_dsl: "*", p_ts_from: daysAgo, p_ts_to: new Date().toISOString() }],
    ["get_tenant_usage", {}],
    ["get_tenant_settings", {}],
    ["update_tenant_settings", { pipeline_config: { compression: true } }],
  ];
  {
    await using _down = await keepDown("postgres-1");
    for (const [operation, parameters] of asked) {
      const answer = await rpc(token, operation, parameters);
      assert.equal(answer.headers.get("retry-after"), "5", operation);
      assertRpcError(answer, 504, recordsAreAway);
    }
    assert.equal((await rpc(token, "list_saved_searches")).status, 200);
    await sender.send(2);
    assertHealthKnowsTheQueue(await health("/detailed"));
  }
  await assertHealthy(sql, [sender]);
});

Deno.test("a silent node counts as away, and delays neither health nor requests", async () => {
  await using sql = openDatabase(undefined, 2, { isCut: true });
  const sender = await senderOfFirstWorker(sql);
  {
    using _frozen = await freezePostgres("postgres-1");
    assertRpcError(await rpc(sender.tenant.token, "get_tenant_usage"), 504, recordsAreAway);
    await sender.send(2);
    assertHealthKnowsTheQueue(await health("/detailed"));
  }
  await assertHealthy(sql, [sender]);
});

Deno.test("an erasure on a node that goes away is finished when the node is back", async () => {
  await using sql = openDatabase(undefined, 2, { isCut: true });
  const sender = await senderOfFirstWorker(sql);
  const run = async () => {
    const { body } = await rpc<{ status: string; records: number; error: string | null }[]>(
      sender.tenant.token,
      "list_log_retention_runs",
      { p_kind: "erasure" },
    );
    return body.map(({ status, records, error }) => ({ status, records, error }));
  };
  {
    await using _job = await stopJob(sql, "run_deletions");
    const asked = await rpc(sender.tenant.token, "delete_logs", {
      p_query_dsl: "*",
      p_ts_from: new Date(Date.now() - 86_400_000).toISOString(),
      p_ts_to: new Date(Date.now() + 60_000).toISOString(),
      p_dry_run: false,
    });
    assert.equal(asked.status, 200, JSON.stringify(asked.body));
    await using _down = await keepDown("postgres-1");
    await assert.rejects(
      sql`select logloom_private.run_deletion_step()`.execute(),
      // 57P01 means that a backend of the node outlived its server.
      (error: { code: string }) => ["08006", "57P01"].includes(error.code),
    );
    assert.deepEqual((await run()).map(({ status, error }) => ({ status, error })), [
      { status: "queued", error: null },
    ]);
  }
  await eventually("it is done", async () => {
    await sql`call logloom_private.run_job('run_deletions')`;
    return (await run())[0].status === "done";
  });
  assert.deepEqual(await run(), [{ status: "done", records: sender.acknowledged, error: null }]);
});

/** Counts the processes of a node that have run a statement and wait for a standby to answer. */
async function heldOn(port: number, statement: string): Promise<number> {
  await using sql = onNode(port);
  const [{ held }] = await sql`
    select count(*)::integer as held from pg_stat_activity a
    where a.wait_event = 'SyncRep' and a.query ilike ${`${statement}%`}`;
  return held;
}

/** Makes a node's commits wait for a standby that does not exist, so that the node answers nobody. */
async function holdAnswers(port: number): Promise<AsyncDisposable> {
  const sql = onNode(port);
  await sql.unsafe("alter system set synchronous_standby_names = 'nobody'");
  await sql`select pg_reload_conf()`;
  const probe = "select pg_logical_emit_message(true, 'probe', '')";
  let isAnswered = true;
  let probing = Promise.resolve();
  await eventually("it is held", async () => {
    if (isAnswered) {
      isAnswered = false;
      // The node may be killed.
      probing = sql.unsafe(probe).then(() => {}, () => {}).then(() => {
        isAnswered = true;
      });
    }
    return await heldOn(port, probe) > 0;
  });
  return {
    async [Symbol.asyncDispose]() {
      await eventually("the node answers again", async () => {
        await using sql = onNode(port);
        await sql.unsafe("alter system reset synchronous_standby_names");
        return await sql`select pg_reload_conf()`;
      });
      await probing;
      await sql.end({ timeout: 1 });
    },
  };
}

/** Returns the writer's pid on the coordinator, once the writer has prepared a step on all nodes. */
async function decidingProcess(sql: Database, ports: number[]): Promise<number | undefined> {
  const [writer] = await sql`
    select a.pid from pg_stat_activity a
    where a.query like '%logloom_private.work(''write'')%' and a.backend_xid is not null`;
  for (const port of ports) {
    await using node = onNode(port);
    const [row] = await node`
      select from pg_prepared_xacts x
      where split_part(x.gid, '_', 3) = ${String(writer?.pid)}`;
    if (row === undefined) return undefined;
  }
  return writer.pid;
}

/**
 * Stops all jobs but the writer while something runs, because the writer would wait for the jobs' prepared
 * transactions.
 */
async function alone<T>(sql: Database, action: () => Promise<T>): Promise<T> {
  const jobs = await sql`
    select j.name from logloom_private.jobs j where j.lane not in ('write', 'ingest')`;
  assert.ok(jobs.length > 0);
  await using undo = new AsyncDisposableStack();
  for (const { name } of jobs) undo.use(await stopJob(sql, name));
  return await action();
}

/**
 * Kills a node while a step is prepared on both workers, before they hear of the coordinator's decision. isDecided:
 * whether the coordinator has decided. Returns the step's write sequence.
 */
async function killBetween(
  sql: Database,
  name: typeof nodes[number],
  isDecided: boolean,
  send: () => Promise<void>,
): Promise<number> {
  const coordinator = Number(new URL(stack.adminDatabaseUrl).port);
  const ports = await portsOfWorkers(sql);
  const port = ports[Math.max(nodes.indexOf(name) - 1, 0)];
  const victim = (await stackState()).processes[name];
  await using undo = new AsyncDisposableStack();
  const holdUntilTheEnd = async (port: number) => undo.use(await holdAnswers(port));
  let held: AsyncDisposable;
  {
    await using _writer = await stopWriter(sql);
    await send();
    held = await holdUntilTheEnd(port);
  }
  await eventually(
    "a worker has prepared and not answered",
    async () => await heldOn(port, "prepare transaction") > 0,
  );
  const decider = await eventually(
    "each worker has prepared the step",
    () => decidingProcess(sql, ports),
  );
  const [{ write_seq }] = await sql`
    select last_value::integer as write_seq from logloom_private.write_seq`;
  if (isDecided) {
    Deno.kill(decider, "SIGSTOP");
    undo.defer(() => void signalIfThere(decider, "SIGCONT"));
    await held[Symbol.asyncDispose]();
    await using node = onNode(port);
    await eventually("it has answered", async () => {
      const [{ silent }] = await node`
        select count(*)::integer as silent from pg_stat_activity a
        where a.query ilike 'prepare transaction%' and a.wait_event is distinct from 'ClientRead'
          and a.pid <> pg_backend_pid()`;
      return silent === 0;
    });
  }
  if (isDecided && name === "postgres") {
    await holdUntilTheEnd(coordinator);
    Deno.kill(decider, "SIGCONT");
    await using node = onNode(coordinator);
    await eventually("the step is committed on the coordinator", async () => {
      const [row] = await node`
        select from pg_stat_activity a where a.pid = ${decider} and a.wait_event = 'SyncRep'`;
      return row !== undefined;
    });
  }
  // Backends outlive their server for a moment, so the backend that decides is killed first.
  if (name === "postgres") signalIfThere(decider, "SIGKILL");
  signalIfThere(victim.pid, "SIGKILL");
  undo.defer(() => isBack(name, victim));
  return write_seq;
}

for (const name of nodes) {
  for (const isDecided of [false, true]) {
    const decision = isDecided ? "decided, but not told" : "prepared, but not decided";
    Deno.test(`killing ${name} when a step is ${decision} loses and doubles nothing`, async () => {
      await using sql = openDatabase(undefined, 2, { isCut: true });
      const sent = await senders(sql);
      const send = async () => {
        for (const sender of sent) await sender.send(2);
      };
      const write_seq = await alone(sql, () => killBetween(sql, name, isDecided, send));
      const ports = await portsOfWorkers(sql);
      await eventually("the coordinator told the nodes its decision", async () => {
        await sql`select recover_prepared_transactions()`;
        return await prepared(ports) === 0;
      });
      await assertHealthy(sql, sent);
      for (const { tenant } of sent) {
        const rows = await sql`
          select distinct l.write_seq = ${write_seq} as is_first from logloom.logs l
          where l.tenant_id = ${tenant.id}`;
        assert.deepEqual(rows.map((row) => row.is_first), [isDecided], "repeated unless decided");
      }
      await send();
      await assertHealthy(sql, sent);
    });
  }
}
