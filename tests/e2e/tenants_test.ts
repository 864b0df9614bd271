import assert from "node:assert/strict";
import { rpc } from "../support/client.ts";
import { stack } from "../support/stack.ts";
import { newUser, refused } from "../support/users.ts";

Deno.test("a tenant appears with its first write, on the default plan", async () => {
  const { client, tenantId } = await newUser();
  await refused(client.call("get_current_tenant", {}), 404, "Tenant not found");
  await refused(client.call("get_tenant_settings", {}), 404, "Tenant settings not found");
  assert.deepEqual(
    await client.call("check_plan_feature", { p_feature: "saved_searches" }),
    { enabled: true, maxCount: 10, currentCount: 0 },
  );
  await refused(client.call("get_current_tenant", {}), 404, "Tenant not found");

  await client.call("create_saved_search", { p_name: "all", p_query_dsl: "ts:*" });
  const tenant = await client.call("get_current_tenant", {});
  assert.ok(Math.abs(Date.parse(tenant.created_at) - Date.now()) < 60_000);
  assert.deepEqual(tenant, {
    tenant_id: tenantId,
    plan_id: "free",
    plan_name: "Free",
    created_at: tenant.created_at,
    monthly_events_limit: 1_000_000,
    monthly_bytes_limit: 1_000_000_000,
    features: { saved_searches: true, max_saved_searches: 10, alerts: true, max_alerts: 3 },
  });
  assert.deepEqual(await client.call("get_tenant_settings", {}), {
    tenant_id: tenantId,
    pipeline_config: { retention_days: 7, compression: true },
    notification_preferences: { email_enabled: true, webhook_enabled: true },
    stored: { sealed_bytes: 0, hot_bytes: 0 },
    retention_rules: [],
  });
});

Deno.test("only the given settings change", async () => {
  const { client, tenantId } = await newUser();
  assert.deepEqual(
    await client.call("update_tenant_settings", {
      pipeline_config: { retention_days: 3 },
      notification_preferences: { webhook_enabled: false },
    }),
    {
      tenant_id: tenantId,
      pipeline_config: { retention_days: 3, compression: true },
      notification_preferences: { email_enabled: true, webhook_enabled: false },
      stored: { sealed_bytes: 0, hot_bytes: 0 },
      retention_rules: [],
    },
  );
  await client.call("update_tenant_settings", {
    p_tenant_id: tenantId,
    pipeline_config: { compression: false },
  });
  assert.deepEqual(await client.call("get_tenant_settings", { p_tenant_id: tenantId }), {
    tenant_id: tenantId,
    pipeline_config: { retention_days: 3, compression: false },
    notification_preferences: { email_enabled: true, webhook_enabled: false },
    stored: { sealed_bytes: 0, hot_bytes: 0 },
    retention_rules: [],
  });
  const wrong: [unknown, unknown, string][] = [
    [{ retention_days: 8 }, undefined, "pipeline_config.retention_days must be from 1 to 7"],
    [{ retention_days: "3" }, undefined, "pipeline_config.retention_days must be a whole number"],
    [{ colour: "red" }, undefined, 'pipeline_config has an unknown member "colour"'],
    [[], undefined, "pipeline_config must be an object"],
    [
      undefined,
      { email_enabled: 1 },
      "notification_preferences.email_enabled must be true or false",
    ],
  ];
  for (const [pipeline_config, notification_preferences, message] of wrong) {
    await refused(
      client.call("update_tenant_settings", { pipeline_config, notification_preferences } as never),
      400,
      `Invalid settings data: ${message}`,
    );
  }
});

Deno.test("concurrent changes of settings are all kept", async () => {
  const { client } = await newUser();
  const changes = [
    { pipeline_config: { retention_days: 2 } },
    { pipeline_config: { compression: false } },
    { notification_preferences: { email_enabled: false } },
    { notification_preferences: { webhook_enabled: false } },
  ];
  await Promise.all(
    Array.from(
      { length: 20 },
      (_, i) => client.call("update_tenant_settings", changes[i % changes.length]),
    ),
  );
  const { pipeline_config, notification_preferences } = await client.call(
    "get_tenant_settings",
    {},
  );
  assert.deepEqual(
    { pipeline_config, notification_preferences },
    {
      pipeline_config: { retention_days: 2, compression: false },
      notification_preferences: { email_enabled: false, webhook_enabled: false },
    },
  );
});

Deno.test("only service_role can read or write another tenant by naming it", async () => {
  const alice = await newUser();
  const stranger = await newUser();
  await alice.client.call("update_tenant_settings", {});
  const other = "p_tenant_id is not the tenant of the token";
  const p_tenant_id = alice.tenantId;
  await refused(stranger.client.call("get_current_tenant", { p_tenant_id }), 403, other);
  await refused(stranger.client.call("get_tenant_settings", { p_tenant_id }), 403, other);
  await refused(stranger.client.call("update_tenant_settings", { p_tenant_id }), 403, other);
  const { status, body } = await rpc(stack.serviceRoleKey, "get_current_tenant", { p_tenant_id });
  assert.equal(status, 200);
  assert.equal(body.tenant_id, p_tenant_id);
});
