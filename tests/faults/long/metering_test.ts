import assert from "node:assert/strict";
import { ingest, newTenant } from "../../support/client.ts";
import { changeSettings, type Database, openDatabase, stopWriter } from "../../support/database.ts";
import { eventually, pause } from "../../support/eventually.ts";
import { putOnPlan, usageOf } from "../../support/plans.ts";
import { isBack, killProcess } from "../../support/processes.ts";
import { complete, outcomeOf, Sender } from "../../support/sender.ts";
import { stack } from "../../support/stack.ts";

Deno.test("after kills the usage equals the acknowledged events", async () => {
  const tenant = await newTenant();
  await using db = openDatabase();
  await putOnPlan(db, tenant, { monthly_events_limit: 100_000_000 });
  const sender = new Sender(tenant);
  sender.start();
  for (const victim of ["postgres", "postgrest", "ingest", "postgres"] as const) {
    await pause(300 + Math.random() * 700);
    await killProcess(victim);
  }
  await pause(300 + Math.random() * 700);
  // Waits only now, because an answer from before the kill could count.
  await isBack("postgres", await killProcess("postgres"));
  const before = sender.acknowledged;
  await eventually("events come in again", () => Promise.resolve(sender.acknowledged > before));
  await sender.stop();
  // Usage is right at once, and still right when all events are written.
  assert.equal((await usageOf(db, tenant)).events, sender.acknowledged);
  assert.deepEqual(await outcomeOf(db, tenant), complete(sender));
  assert.equal((await usageOf(db, tenant)).events, sender.acknowledged);
  for (const table of ["logloom.usage_days", "logloom_private.usage_services"]) {
    const [{ events }] = await db`
      select sum(events)::float8 as events from ${db(table)} where tenant_id = ${tenant.id}`;
    assert.equal(events, sender.acknowledged, table);
  }
});

Deno.test("a client that repeats a request after a lost answer doubles nothing", async () => {
  const tenant = await newTenant();
  await using db = openDatabase();
  const { hostname, port } = new URL(stack.url);
  const body = JSON.stringify([{ msg: "once" }, { msg: "and no more" }]);
  const headers = { ...tenant.headers, "idempotency-key": "lost-answer" };
  {
    // Cut as soon as the request is committed, before the answer is read.
    const connection = await Deno.connect({ hostname, port: Number(port) });
    const lines = [
      "POST /functions/v1/ingest HTTP/1.1",
      `Host: ${hostname}`,
      `Content-Length: ${body.length}`,
      "Content-Type: application/json",
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ];
    await connection.write(new TextEncoder().encode(`${lines.join("\r\n")}\r\n\r\n${body}`));
    await eventually("it is committed", async () => {
      const [known] = await db`
        select from logloom_private.idempotency_keys where tenant_id = ${tenant.id}`;
      return known !== undefined;
    }, { every: 1 });
    connection.close();
  }
  for (let repeat = 0; repeat < 3; repeat++) {
    const answer = await ingest(headers, body);
    assert.deepEqual([answer.status, answer.body], [200, {
      success: true,
      ingested: 2,
      rejected: 0,
    }]);
  }
  const outcome = await outcomeOf(db, tenant);
  assert.equal(outcome.records, 2);
  assert.deepEqual(await usageOf(db, tenant), { events: 2, bytes: body.length });
});

async function isSilent(sql: Database): Promise<boolean> {
  const [{ silent }] = await sql`
    select j.last_succeeded_at < now() - s.writer_guard_silence as silent
    from logloom_private.jobs j, logloom_private.settings s where j.name = 'write_logs'`;
  return silent;
}

Deno.test("with pg_cron stopped, events become visible anyway", async () => {
  const tenant = await newTenant();
  await using db = openDatabase();
  {
    await using _silence = await changeSettings(db, { writer_guard_silence: "2 seconds" });
    await using _writer = await stopWriter(db, { guarded: true });
    await eventually("the writer is missed", () => isSilent(db));
    const sender = new Sender(tenant, { pauseBetween: 20 });
    sender.start();
    await eventually("thousands of events are accepted", () => {
      return Promise.resolve(sender.acknowledged > 3000);
    });
    await sender.stop();
    assert.deepEqual(await outcomeOf(db, tenant), complete(sender));
    assert.equal((await usageOf(db, tenant)).events, sender.acknowledged);
  }
  // The watchdog must not run during the next test.
  await eventually("pg_cron runs the writer again", async () => !(await isSilent(db)));
});
