import assert from "node:assert/strict";
import { rpc } from "../support/client.ts";
import { stack } from "../support/stack.ts";
import { newUser, refused } from "../support/users.ts";

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
