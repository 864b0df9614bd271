import assert from "node:assert/strict";
import { apiKey, clientOf, createKey, ingest, newTenant, rpc } from "../support/client.ts";
import { openDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";

Deno.test("changes of keys and settings are in the audit log, without the keys", async () => {
  const tenant = await newTenant();
  const first = await createKey(tenant);
  const rotated = await rpc<{ key_id: string; key_value: string }>(tenant.token, "rotate_api_key", {
    p_key_id: first.key_id,
    p_overlap_minutes: 5,
  });
  assert.equal(rotated.status, 200);
  await clientOf(tenant.token).call("revoke_api_key", { p_key_id: first.key_id });
  await clientOf(tenant.token).call("update_tenant_settings", {
    pipeline_config: { retention_days: 3 },
  });

  const body = await clientOf(tenant.token).call("list_tenant_audit_events", {});
  assert.deepEqual(body.map(({ action, subject }) => [action, subject]), [
    ["settings.changed", "settings"],
    ["api_key.revoked", first.key_id],
    ["api_key.changed", first.key_id],
    ["api_key.created", rotated.body.key_id],
    ["api_key.created", first.key_id],
  ]);
  assert.ok(body.every(({ actor }) => actor === tenant.userId));
  const text = JSON.stringify(body);
  for (const { key_value } of [first, rotated.body]) assert.ok(!text.includes(key_value));
  assert.deepEqual((await rpc((await newTenant()).token, "list_tenant_audit_events")).body, []);
});

Deno.test("a rotated key works beside its successor until the overlap ends", async () => {
  await using db = openDatabase();
  const tenant = await newTenant();
  const old = await createKey(tenant);
  const body = await clientOf(tenant.token).call("rotate_api_key", { p_key_id: old.key_id });
  assert.equal(body.name, "test");
  for (const key of [old.key_value, body.key_value]) {
    assert.equal((await ingest(apiKey(key), {})).status, 200);
  }
  await db`
    update logloom.api_keys set expires_at = now() + interval '1 second'
    where key_id = ${old.key_id}`;
  await eventually("the old key has expired", async () => {
    return (await ingest(apiKey(old.key_value), {})).status === 401;
  });
  assert.equal((await ingest(apiKey(body.key_value), {})).status, 200);
});
