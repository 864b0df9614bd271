import assert from "node:assert/strict";
import { assertRpcError, clientOf, ingest, newTenant, rpc } from "../support/client.ts";
import { openDatabase, queueIsEmpty, stopWriter } from "../support/database.ts";
import { putOnPlan } from "../support/plans.ts";

Deno.test("usage equals the acknowledged events, queued or written, to the byte", async () => {
  await using db = openDatabase();
  const tenant = await newTenant();
  assertRpcError(await rpc(tenant.token, "get_tenant_usage"), 404, "Tenant not found");
  await putOnPlan(db, tenant, { monthly_events_limit: 1000 });

  const bodies = [
    JSON.stringify([{ msg: "a", service: "api" }, { msg: "b" }]),
    JSON.stringify([{ msg: "c" }, "not an event"]),
    JSON.stringify(["not an event"]),
    "[]",
    JSON.stringify({ msg: "naïve" }),
  ];
  const counted = [0, 1, 4].reduce((sum, n) => sum + new TextEncoder().encode(bodies[n]).length, 0);
  {
    await using _writer = await stopWriter(db);
    for (const body of bodies) assert.equal((await ingest(tenant.headers, body)).status, 200);
    const body = await clientOf(tenant.token).call("get_tenant_usage", {});
    assert.deepEqual([body.events, body.bytes], [4, counted]);
  }
  await queueIsEmpty(db);
  const body = await clientOf(tenant.token).call("get_tenant_usage", { p_months: 2 });
  assert.deepEqual([body.events, body.bytes], [4, counted]);
  assert.equal(body.tenant_id, tenant.id);
  assert.equal(body.month, new Date().toISOString().slice(0, 7));
  assert.equal(body.monthly_events_limit, 1000);
  assert.equal(body.events_percent, 0.4);
  assert.ok(body.projected_events >= 4);
  assert.deepEqual(body.days, [
    { day: new Date().toISOString().slice(0, 10), events: 4, bytes: counted },
  ]);
  assert.deepEqual(body.months.map(({ events }) => events), [4, 0]);

  const { services } = await clientOf(tenant.token).call("get_tenant_usage", { p_services: 1 });
  const { logs } = await clientOf(tenant.token).call("search_logs", { p_query_dsl: "*" });
  const expected = [null, "api"].map((service) => {
    const records = logs.filter((log) => log.service === service);
    const { size } = new Blob(records.map((log) => JSON.stringify(log)));
    return { day: body.days[0].day, service, events: records.length, record_bytes: size };
  });
  assert.deepEqual(services, expected);
});
