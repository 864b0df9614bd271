import assert from "node:assert/strict";
import { createRule } from "../support/alert_rules.ts";
import { clientOf, newTenant, type Tenant } from "../support/client.ts";
import { changeSettings, openDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { putOnPlan } from "../support/plans.ts";
import { receiveWebhooks } from "../support/receivers.ts";

async function ruleFor(tenant: Tenant, name: string, url: string): Promise<string> {
  const body = await createRule(tenant, {
    p_name: name,
    p_query_dsl: "level:error | count() by @shop",
    p_threshold: 1e9,
    p_window_minutes: 60,
    p_notification_destinations: ["webhook"],
    p_notification_config: { webhook_url: url },
  });
  return body.rule_id;
}

Deno.test("a tenant whose receiver hangs keeps no other tenant's notifications waiting", async () => {
  const slow = await newTenant("slow");
  const other = await newTenant("other");
  await using db = openDatabase();
  await putOnPlan(db, slow, { webhooks_per_hour: 2000, max_alerts: 5 });
  await putOnPlan(db, other, { max_alerts: 5 });
  await using _settings = await changeSettings(db, { notification_open_limit: 20 });
  const released = Promise.withResolvers<void>();
  await using hanging = receiveWebhooks(async () => {
    await released.promise;
    return new Response("ok");
  });
  // Releases the answers even if the test fails, because closing the receiver waits for its answers.
  using _release = { [Symbol.dispose]: () => released.resolve() };
  await using receiver = receiveWebhooks();

  // Three rules that fire for 50 groups each: the trigger of the history makes the notifications.
  for (const name of ["one", "two", "three"]) {
    const ruleId = await ruleFor(slow, name, hanging.url);
    await db`
      insert into logloom.alert_history (tenant_id, rule_id, value, threshold, window_end, "group")
      select ${slow.id}, ${ruleId}, 1, 0, now(), jsonb_build_object('@shop', i::text)
      from generate_series(1, 50) i`;
  }
  const under = async () => {
    const [row] = await db`
      select count(*)::integer as claims from logloom_private.notifications
      where tenant_id = ${slow.id} and claim_id is not null`;
    return row.claims;
  };
  await hanging.wait(10);
  assert.equal(await under(), 10, "half of the places stay free");

  const ruleIds = await Promise.all(
    ["a", "b", "c", "d", "e"].map((name) => ruleFor(other, name, receiver.url)),
  );
  for (const ruleId of ruleIds) {
    await clientOf(other.token).call("test_alert_rule", { p_rule_id: ruleId });
  }
  await receiver.wait(5);
  // On a slow machine a few attempts may have timed out. If tenants did not take turns, all 150 would have been
  // attempted.
  const [ended] = await db`
    select count(*)::integer as deliveries from logloom_private.notifications
    where tenant_id = ${slow.id}
      and (status <> 'pending' or attempts > 1 or last_error is not null)`;
  assert.ok(ended.deliveries < 75, `${ended.deliveries}`);

  released.resolve();
  await eventually("all of the slow tenant's are delivered in the end", async () => {
    const [row] = await db`
      select count(*)::integer as deliveries from logloom_private.notifications
      where tenant_id = ${slow.id} and status = 'delivered'`;
    return row.deliveries === 150;
  });
});
