import assert from "node:assert/strict";
import { createRule } from "../../support/alert_rules.ts";
import { clientOf, ingest, newTenant, type Tenant } from "../../support/client.ts";
import { type Database, openDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { killPart } from "../../support/processes.ts";
import { receiveWebhooks } from "../../support/receivers.ts";

async function ruleFor(tenant: Tenant, webhook_url: string): Promise<string> {
  const { rule_id } = await createRule(tenant, {
    p_query_dsl: "ts:*",
    p_threshold: 0,
    p_window_minutes: 60,
    p_notification_destinations: ["webhook"],
    p_notification_config: { webhook_url },
  });
  return rule_id;
}

Deno.test("a killed function delivers again, under the same id", async () => {
  const tenant = await newTenant("notify");
  await using db = openDatabase();
  const killed = Promise.withResolvers<void>();
  await using receiver = receiveWebhooks(async (before) => {
    // Answers the first request only after the kill.
    if (before === 0) await killed.promise;
    return new Response("ok");
  });
  // Releases the answer even if the test fails, because closing the receiver waits for its answers.
  using _release = { [Symbol.dispose]: () => killed.resolve() };
  const ruleId = await ruleFor(tenant, receiver.url);
  await clientOf(tenant.token).call("test_alert_rule", { p_rule_id: ruleId });
  await receiver.wait(1);
  const isBack = await killPart("logloom-notify");
  killed.resolve();
  // Simulates that the delivery's claim has ended.
  await db`
    update logloom_private.notifications set next_attempt_at = now()
    where tenant_id = ${tenant.id} and claim_id is not null`;
  const [first, second] = await receiver.wait(2);
  await isBack();
  assert.equal(second.headers["webhook-id"], first.headers["webhook-id"]);
  assert.equal(second.body, first.body);
  const row = await eventually("the delivery is settled", async () => {
    const [row] = await db`
      select status, attempts, notification_id from logloom_private.notifications
      where tenant_id = ${tenant.id}`;
    return row.status === "delivered" && row;
  });
  assert.equal(row.notification_id, first.headers["webhook-id"]);
  assert.equal(row.attempts, receiver.received.length);
});

/** Returns the backend that evaluates this tenant's rules and waits for a lock. */
async function blockedEvaluator(db: Database): Promise<number> {
  return await eventually("an evaluator waits", async () => {
    const [row] = await db`
      select pid from pg_stat_activity
      where query like '%logloom_private.work(''send'')%' and wait_event_type = 'Lock'
        and wait_event <> 'advisory' and pid <> pg_backend_pid()`;
    return row?.pid as number | undefined;
  }, { every: 10 });
}

Deno.test("an evaluator killed, and several at once, make one alert and one notification", async () => {
  const tenant = await newTenant("evaluator");
  await using db = openDatabase(undefined, 6);
  await using receiver = receiveWebhooks();
  assert.equal((await ingest(tenant.headers, [{ msg: "one" }, { msg: "two" }])).status, 200);
  const ruleId = await ruleFor(tenant, receiver.url);

  // The evaluator has written alert and notification when it waits for the rule's row.
  const release = Promise.withResolvers<void>();
  const holding = Promise.withResolvers<void>();
  const holder = db.begin(async (sql) => {
    await sql`select from logloom.alert_rules where rule_id = ${ruleId} for update`;
    holding.resolve();
    await release.promise;
  });
  await holding.promise;
  const evaluator = await blockedEvaluator(db);
  Deno.kill(evaluator, "SIGTERM");
  await eventually("it is gone", async () => {
    const rows = await db`select from pg_stat_activity where pid = ${evaluator}`;
    return rows.length === 0;
  });
  const count = async () => {
    const [row] = await db`
      select
        (select count(*)::integer from logloom.alert_history where rule_id = ${ruleId}) as alerts,
        (select count(*)::integer from logloom_private.notifications where rule_id = ${ruleId}) as sent`;
    return [row.alerts, row.sent];
  };
  assert.deepEqual(await count(), [0, 0]);

  release.resolve();
  await holder;
  // Together with the job, four evaluators run. The calls have no bound values, because these procedures commit.
  await Promise.all(
    [1, 2, 3].map(() => db.unsafe("call logloom_private.run_job('evaluate_alerts')").simple()),
  );
  await receiver.wait(1);
  assert.deepEqual(await count(), [1, 1]);
  const [rule] = await db`select last_value from logloom.alert_rules where rule_id = ${ruleId}`;
  assert.equal(rule.last_value, 2);
});
