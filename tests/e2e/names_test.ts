import assert from "node:assert/strict";
import { call, newTenant, rpc } from "../support/client.ts";

const within = (milliseconds: number) => ({ signal: AbortSignal.timeout(milliseconds) });

/** PostgREST would look for a similar name, which takes it half a minute: it is never asked. */
Deno.test("names that cannot be ours are refused before PostgREST looks for similar ones", async () => {
  const tenant = await newTenant();
  const long = "a".repeat(20_000);
  const escaped = "\\u0061".repeat(4_000);
  const bodies = [
    JSON.stringify({ [long]: 1 }),
    `{"${escaped}": 1}`,
    `{"p_tenant_id": "\\"", "${long}"  : 1}`,
    JSON.stringify(Object.fromEntries([["p_tenant_id", "x"], [`${long}\\"`, 1]])),
  ];
  for (const token of [null, tenant.token]) {
    for (const body of bodies) {
      const answer = await rpc(token, "list_api_keys", {}, { body, ...within(5_000) });
      assert.equal(answer.status, 404, body.slice(0, 40));
      assert.equal(answer.body.message, "No operation has a parameter of such a name");
    }
    const answer = await rpc(token, "a".repeat(6_000), {}, within(5_000));
    assert.equal(answer.status, 404);
    assert.equal(answer.body.message, "No operation has such a name");
  }
  const { status } = await rpc(tenant.token, "list_api_keys", {}, within(5_000));
  assert.equal(status, 200);
});

Deno.test("long values are none of its business, nor are members of a usual length", async () => {
  const tenant = await newTenant();
  const rule = {
    p_name: "rule",
    p_description: `${'"'.repeat(600)}: ${"a".repeat(600)}": `,
    p_query_dsl: "level:error",
    p_threshold: 1,
    p_comparison: "gt",
    p_window_minutes: 5,
    p_cooldown_minutes: 5,
    p_enabled: false,
    p_notification_config: { ["m".repeat(256)]: "x" },
  };
  const { status, body } = await rpc(tenant.token, "create_alert_rule", rule);
  assert.equal(status, 200, JSON.stringify(body));
});

Deno.test("a body larger than any operation takes is 413", async () => {
  const tenant = await newTenant();
  const { status } = await rpc(tenant.token, "create_alert_rule", { p_name: "a".repeat(200_000) });
  assert.equal(status, 413);
});

Deno.test("of 500 requests at once each is answered", async () => {
  const tenant = await newTenant();
  const answers = await Promise.all(
    Array.from(
      { length: 500 },
      (_, n) =>
        n % 2 === 0
          ? rpc(tenant.token, "list_api_keys")
          : call("/functions/v1/ingest", { method: "POST", headers: tenant.headers, body: "{}" }),
    ),
  );
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
});
