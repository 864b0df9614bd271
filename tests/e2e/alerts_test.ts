import assert from "node:assert/strict";
import { rpc } from "../support/client.ts";
import { type Database, openDatabase } from "../support/database.ts";
import { stack } from "../support/stack.ts";
import { newUser, refused, served, type User } from "../support/users.ts";

const nobody = "00000000-0000-4000-8000-000000000000";

const rule = {
  p_name: "Many errors",
  p_query_dsl: "level:error | rate()",
  p_threshold: 2.5,
  p_comparison: "gt",
  p_window_minutes: 5,
  p_cooldown_minutes: 30,
  p_enabled: true,
};

Deno.test("an alert rule is made, found, changed and deleted", async () => {
  const { client, tenantId } = await newUser();
  const created = await served(client.rpc("create_alert_rule", {
    ...rule,
    p_description: "Wake somebody",
    p_notification_destinations: ["email", "webhook"],
    p_notification_config: {
      email: "ops@example.com",
      webhook_url: "https://example.com/hook",
      runbook: { page: 7 },
    },
  }));
  assert.deepEqual(created, {
    rule_id: created.rule_id,
    tenant_id: tenantId,
    name: "Many errors",
    description: "Wake somebody",
    query_dsl: "level:error | rate()",
    threshold: 2.5,
    comparison: "gt",
    window_minutes: 5,
    cooldown_minutes: 30,
    enabled: true,
    notification_destinations: ["email", "webhook"],
    notification_config: {
      email: "ops@example.com",
      webhook_url: "https://example.com/hook",
      runbook: { page: 7 },
    },
    created_at: created.created_at,
    updated_at: created.created_at,
  });
  const p_rule_id = created.rule_id ?? "";
  assert.deepEqual(await served(client.rpc("get_alert_rule", { p_rule_id })), created);
  assert.deepEqual(await served(client.rpc("list_alert_rules")), [created]);
  assert.deepEqual(
    await served(client.rpc("list_alert_rules", { p_tenant_id: tenantId })),
    [created],
  );

  const changed = await served(client.rpc("update_alert_rule", {
    p_rule_id,
    p_enabled: false,
    p_threshold: 0,
    p_comparison: "lte",
  }));
  assert.deepEqual(changed, {
    ...created,
    enabled: false,
    threshold: 0,
    comparison: "lte",
    updated_at: changed.updated_at,
  });

  assert.deepEqual(await served(client.rpc("delete_alert_rule", { p_rule_id })), {
    success: true,
  });
  await refused(client.rpc("get_alert_rule", { p_rule_id }), 404, "Alert rule not found");
  await refused(client.rpc("delete_alert_rule", { p_rule_id }), 404, "Alert rule not found");
});

Deno.test("a rule that cannot work is refused with what to change", async () => {
  const { client } = await newUser();
  for (const name of Object.keys(rule)) {
    await refused(
      client.rpc("create_alert_rule", { ...rule, [name]: undefined }),
      400,
      `Missing required parameter: ${name}`,
    );
  }
  const wrong: [object, string][] = [
    [{ p_comparison: "more" }, "Invalid p_comparison: one of gt, gte, lt, lte, eq, neq"],
    [{ p_window_minutes: 1441 }, "Invalid p_window_minutes: 1 to 1440"],
    [{ p_cooldown_minutes: -1 }, "Invalid p_cooldown_minutes: 0 to 10080"],
    [{ p_threshold: "NaN" }, "Invalid p_threshold: a finite number"],
    [
      { p_query_dsl: "ts:* | count() by service" },
      'Invalid p_query_dsl: an alert rule compares one number, so it takes no "by"',
    ],
    [
      { p_notification_destinations: ["pager"] },
      "Invalid p_notification_destinations: any of email, webhook",
    ],
    [
      { p_notification_destinations: ["email"] },
      "Invalid p_notification_config: an enabled rule needs the address of each destination",
    ],
    [
      { p_notification_config: { webhook_url: "http://169.254.169.254/" } },
      "Invalid p_notification_config: webhook_url is no https URL",
    ],
  ];
  for (const [parameters, message] of wrong) {
    await refused(client.rpc("create_alert_rule", { ...rule, ...parameters }), 400, message);
  }
  for (
    const parameters of [
      { p_window_minutes: 1.5 },
      { p_window_minutes: 1e10 },
      { p_threshold: "ten" },
      { p_enabled: "perhaps" },
    ]
  ) {
    const { status } = await client.rpc("create_alert_rule", { ...rule, ...parameters } as never);
    assert.equal(status, 400, JSON.stringify(parameters));
  }
  assert.deepEqual(await served(client.rpc("list_alert_rules")), []);
});

Deno.test("colleagues share rules; another tenant has none of them", async () => {
  const alice = await newUser();
  const bob = await newUser(alice.tenantId);
  const stranger = await newUser();
  const { rule_id } = await served(alice.client.rpc("create_alert_rule", rule));
  const p_rule_id = rule_id ?? "";
  assert.equal(
    (await served(bob.client.rpc("update_alert_rule", { p_rule_id, p_name: "ours" }))).name,
    "ours",
  );
  const missing = "Alert rule not found";
  await refused(stranger.client.rpc("get_alert_rule", { p_rule_id }), 404, missing);
  await refused(stranger.client.rpc("update_alert_rule", { p_rule_id }), 404, missing);
  await refused(stranger.client.rpc("delete_alert_rule", { p_rule_id }), 404, missing);
  assert.deepEqual(await served(stranger.client.rpc("list_alert_rules")), []);
  await refused(
    stranger.client.rpc("list_alert_rules", { p_tenant_id: alice.tenantId }),
    403,
    "p_tenant_id is not the tenant of the token",
  );
  assert.deepEqual(await served(bob.client.rpc("delete_alert_rule", { p_rule_id })), {
    success: true,
  });
});

Deno.test("no rule is made above the plan's limit, however many are made at once", async () => {
  const { client } = await newUser();
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => client.rpc("create_alert_rule", rule)),
  );
  const messages = answers.map(({ error }) => error?.message ?? "created");
  assert.equal(messages.filter((message) => message === "created").length, 3);
  assert.equal(
    messages.filter((message) => message === "Plan limit exceeded: alerts (max 3)").length,
    9,
  );
  assert.deepEqual(
    await served(client.rpc("check_plan_feature", { p_feature: "alerts" })),
    { enabled: true, maxCount: 3, currentCount: 3 },
  );
});

async function trigger(db: Database, user: User, ruleId: string, at: string): Promise<string> {
  const [{ alert_id }] = await db`
    insert into app.alert_history (tenant_id, rule_id, triggered_at, value, threshold)
    values (${user.tenantId}, ${ruleId}, ${at}, 12.5, 10)
    returning alert_id`;
  return alert_id;
}

Deno.test("history is found by rule, time and acknowledgement, and acknowledged once", async () => {
  await using db = openDatabase();
  const alice = await newUser();
  const bob = await newUser(alice.tenantId);
  const stranger = await newUser();
  const { rule_id } = await served(alice.client.rpc("create_alert_rule", rule));
  const p_rule_id = rule_id ?? "";
  const first = await trigger(db, alice, p_rule_id, "2026-11-20T10:00:00Z");
  const second = await trigger(db, alice, nobody, "2026-11-20T11:00:00Z");
  const third = await trigger(db, alice, p_rule_id, "2026-11-20T12:00:00Z");

  const history = await served(alice.client.rpc("list_alert_history"));
  assert.deepEqual(history[0], {
    alert_id: third,
    rule_id,
    tenant_id: alice.tenantId,
    triggered_at: "2026-11-20T12:00:00+00:00",
    value: 12.5,
    threshold: 10,
    acknowledged: false,
    acknowledged_at: null,
    acknowledged_by: null,
    notification_sent: false,
    notification_sent_at: null,
    notification_channels: [],
  });
  const listed = async (parameters: Record<string, unknown>) =>
    (await served(alice.client.rpc("list_alert_history", parameters))).map((one) => one.alert_id);
  assert.deepEqual(await listed({}), [third, second, first]);
  assert.deepEqual(await listed({ p_rule_id }), [third, first]);
  assert.deepEqual(await listed({ p_ts_from: "2026-11-20T11:00:00Z" }), [third, second]);
  assert.deepEqual(await listed({ p_ts_to: "2026-11-20T11:00:00Z" }), [first]);
  assert.deepEqual(await listed({ p_limit: 1 }), [third]);
  assert.deepEqual(await listed({ p_limit: 1, p_after: third }), [second]);

  assert.deepEqual(await served(bob.client.rpc("acknowledge_alert", { p_alert_id: first })), {
    success: true,
  });
  await served(alice.client.rpc("acknowledge_alert", { p_alert_id: first }));
  const [acknowledged, ...others] = await served(
    bob.client.rpc("list_alert_history", { p_acknowledged: true }),
  );
  assert.deepEqual(others, []);
  assert.equal(acknowledged.alert_id, first);
  assert.equal(acknowledged.acknowledged_by, bob.id);
  assert.deepEqual(await listed({ p_acknowledged: false }), [third, second]);

  const missing = "Alert not found";
  await refused(stranger.client.rpc("acknowledge_alert", { p_alert_id: second }), 404, missing);
  await refused(stranger.client.rpc("acknowledge_alert", { p_alert_id: nobody }), 404, missing);
  assert.deepEqual(await served(stranger.client.rpc("list_alert_history")), []);
  await refused(
    alice.client.rpc("list_alert_history", { p_after: nobody }),
    400,
    "Invalid p_after: no such alert",
  );
  const { status } = await alice.client.rpc("list_alert_history", { p_ts_from: "last week" });
  assert.equal(status, 400);

  await served(alice.client.rpc("delete_alert_rule", { p_rule_id }));
  assert.deepEqual(await listed({ p_rule_id }), [third, first], "history outlives its rule");
});

Deno.test("service_role lists a tenant's rules and history, and cannot act without a tenant", async () => {
  const { client, tenantId } = await newUser();
  const { rule_id } = await served(client.rpc("create_alert_rule", rule));
  const rules = await rpc<{ rule_id: string }[]>(stack.serviceRoleKey, "list_alert_rules", {
    p_tenant_id: tenantId,
  });
  assert.equal(rules.status, 200);
  assert.deepEqual(rules.body.map((one) => one.rule_id), [rule_id]);
  for (const operation of ["list_alert_rules", "list_alert_history"]) {
    const { status, body } = await rpc(stack.serviceRoleKey, operation);
    assert.equal(status, 400);
    assert.equal(body.message, "Missing required parameter: p_tenant_id");
  }
  const { status } = await rpc(stack.serviceRoleKey, "get_alert_rule", { p_rule_id: rule_id });
  assert.equal(status, 400);
});
