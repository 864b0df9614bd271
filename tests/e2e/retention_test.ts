import assert from "node:assert/strict";
import { assertAnswer, clientOf, ingest, newTenant, rpc, type Tenant } from "../support/client.ts";
import {
  changeSettings,
  countRecords,
  type Database,
  openDatabase,
  recordsOf,
} from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { keepRecords, putOnPlan } from "../support/plans.ts";

const day = 86_400_000;

async function sendDaysAgo(tenant: Tenant, days: number[]): Promise<void> {
  const events = days.map((ago) => ({ ts: new Date(Date.now() - ago * day).toISOString() }));
  const { status, body } = await ingest(tenant.headers, events);
  assert.deepEqual([status, body.ingested], [200, days.length]);
}

async function daysOf(sql: Database, tenant: Tenant): Promise<number[]> {
  const rows = await sql`
    select logloom_private.utc_day(now()) - logloom_private.utc_day(l.ts) as ago
    from logloom.logs l where l.tenant_id = ${tenant.id} order by 1`;
  return rows.map(({ ago }) => ago as number);
}

function partitionExists(sql: Database, ago: number): Promise<boolean> {
  return sql`select logloom_private.partition_exists(logloom_private.utc_day(now()) - ${ago}::integer) as there`
    .then(([{ there }]) => there as boolean);
}

/** Runs retention now, as the job does once a day. */
async function runRetention(sql: Database): Promise<void> {
  await sql`select logloom_private.begin_retention(logloom_private.utc_day(now()))`;
  await sql`call logloom_private.run_job('run_retention')`;
}

Deno.test("records are deleted by each tenant's retention, as whole days if no tenant keeps them", async () => {
  await using db = openDatabase();
  const [keepsMuch, keepsLittle] = [await newTenant(), await newTenant()];
  await putOnPlan(db, keepsMuch, { retention_days_default: 30, retention_days_max: 30 });
  await keepRecords(db, keepsLittle.id, 400);
  await sendDaysAgo(keepsMuch, [0, 1, 20, 29]);
  await sendDaysAgo(keepsLittle, [0, 1, 2, 6, 20, 390]);
  await recordsOf(db, keepsMuch.id, 4);
  await recordsOf(db, keepsLittle.id, 6);
  assert.ok(await partitionExists(db, 390));

  await clientOf(keepsLittle.token).call("update_tenant_settings", {
    pipeline_config: { retention_days: 2 },
  });
  await runRetention(db);
  assert.deepEqual(await daysOf(db, keepsMuch), [0, 1, 20, 29]);
  assert.deepEqual(await daysOf(db, keepsLittle), [0, 1, 2]);
  assert.ok(!await partitionExists(db, 390));
  assert.ok(await partitionExists(db, 20));

  const body = await clientOf(keepsLittle.token).call("list_log_retention_runs", {});
  assert.deepEqual(
    body.map(({ kind, status, records }) => ({ kind, status, records })),
    [{ kind: "retention", status: "done", records: 3 }],
  );
  assertAnswer(await rpc(keepsMuch.token, "list_log_retention_runs"), 200, []);

  await clientOf(keepsLittle.token).call("update_tenant_settings", {
    pipeline_config: { retention_days: 7 },
  });
  await runRetention(db);
  assert.deepEqual(await daysOf(db, keepsLittle), [0, 1, 2]);
  const ts = new Date(Date.now() - 8 * day).toISOString();
  assertAnswer(await ingest(keepsLittle.headers, { ts }), 200, {
    success: false,
    ingested: 0,
    rejected: 1,
    errors: [{
      index: 0,
      code: "ts_out_of_range",
      message: "ts is older than the retention of 7 days",
    }],
  });
});

Deno.test("a retention run that is killed is finished by the next one", async () => {
  await using db = openDatabase();
  await using killed = openDatabase(undefined, 1);
  const [tenant, neighbour] = [await newTenant(), await newTenant()];
  await putOnPlan(db, neighbour, { retention_days_default: 30, retention_days_max: 30 });
  await sendDaysAgo(neighbour, [9]);
  await keepRecords(db, tenant.id, 30);
  // Keeps the records as rows, because blocks would be deleted in one step.
  await clientOf(tenant.token).call("update_tenant_settings", {
    pipeline_config: { compression: false },
  });
  await sendDaysAgo(tenant, Array(500).fill(9));
  await recordsOf(db, neighbour.id, 1);
  await recordsOf(db, tenant.id, 500);
  await keepRecords(db, tenant.id, 7);
  await using _settings = await changeSettings(db, {
    deletion_step_records: 50,
    // Ten pauses are long enough to kill the run in its middle.
    deletion_pause: "3 seconds",
  });

  const [{ pid }] = await killed`select pg_backend_pid() as pid`;
  const run = runRetention(killed).catch(() => "killed");
  await eventually("some records are deleted", async () => {
    return await countRecords(db, tenant.id) < 500;
  }, { every: 5 });
  await db`select pg_terminate_backend(${pid}::integer)`;
  assert.equal(await run, "killed");
  const left = await countRecords(db, tenant.id);
  assert.ok(left > 0, "it was killed in the middle");
  await using _quick = await changeSettings(db, { deletion_pause: "0" });

  await runRetention(db);
  assert.equal(await countRecords(db, tenant.id), 0);
  assert.equal(await countRecords(db, neighbour.id), 1);
  const body = await clientOf(tenant.token).call("list_log_retention_runs", {});
  assert.deepEqual(
    body.map(({ status, records }) => ({ status, records })),
    [{ status: "done", records: 500 }],
  );
});

Deno.test("records deleted by retention are gone from searches and counts", async () => {
  await using db = openDatabase();
  const [tenant, neighbour] = [await newTenant(), await newTenant()];
  await putOnPlan(db, neighbour, { retention_days_default: 30, retention_days_max: 30 });
  await sendDaysAgo(neighbour, [10]);
  await keepRecords(db, tenant.id, 30);
  await sendDaysAgo(tenant, [10, 10, 1]);
  await recordsOf(db, neighbour.id, 1);
  await recordsOf(db, tenant.id, 3);
  await keepRecords(db, tenant.id, 7);
  await runRetention(db);
  for (const [who, count] of [[tenant, 1], [neighbour, 1]] as const) {
    const range = { since: new Date(Date.now() - 15 * day), until: new Date() };
    const rows = await clientOf(who.token).stats("", range);
    assert.deepEqual(rows.map(({ value }) => value), [count]);
    assert.equal((await clientOf(who.token).search("", range)).logs.length, count);
  }
});
