import assert from "node:assert/strict";
import { Webhook } from "standardwebhooks";
import type { AlertDelivery, ErrorGroup } from "../../packages/logloom/src/read.ts";
import {
  assertAnswer,
  assertRpcError,
  call,
  clientOf,
  ingest,
  newTenant,
  rpc,
} from "../support/client.ts";
import { changeConstant, openDatabase, stopJob } from "../support/database.ts";
import { createRule } from "../support/alert_rules.ts";
import { atOnce } from "../support/concurrent_tests.ts";
import { eventually } from "../support/eventually.ts";
import { putOnPlan } from "../support/plans.ts";
import { receiveEmails, receiveWebhooks } from "../support/receivers.ts";

const ofShop = {
  p_name: "Errors of the shop",
  p_query_dsl: "level:error service:shop",
  p_threshold: 2,
};

// Both tests wait for the next round.
atOnce({
  "an alert is sent soon after the event, by webhook and by email": async () => {
    const tenant = await newTenant("alerts");
    await using receiver = receiveWebhooks();
    await using mailbox = await receiveEmails();
    const email = `${tenant.id}@example.com`;
    const rule = await createRule(tenant, {
      ...ofShop,
      p_notification_destinations: ["webhook", "email"],
      p_notification_config: { email, webhook_url: `${receiver.url}/hook` },
    });
    const { secret } = await clientOf(tenant.token).call("rotate_alert_webhook_secret", {
      p_rule_id: rule.rule_id,
    });

    // The address must be confirmed first.
    const [tested] = await clientOf(tenant.token).call("test_alert_rule", {
      p_rule_id: rule.rule_id,
    }).then((deliveries) => deliveries.filter(({ channel }) => channel === "email"));
    assert.equal(tested.status, "failed");
    assert.match(tested.last_error ?? "", /^The address is not confirmed: /);
    const confirm = (p_code: string) =>
      rpc(tenant.token, "confirm_alert_address", { p_email: email, p_code });
    const code = await mailbox.waitForCode(email);
    const wrong = `${(Number(code) + 1) % 1_000_000}`.padStart(6, "0");
    for (let tries = 0; tries < 2; tries++) {
      assertRpcError(await confirm(wrong), 400, "The code is wrong");
    }
    assert.deepEqual(
      (await clientOf(tenant.token).call("list_alert_addresses", {}))
        .map(({ email, confirmed, tries_left }) => [email, confirmed, tries_left]),
      [[email, false, 3]],
    );
    assertAnswer(await confirm(code), 200, { success: true });
    const [{ alert_id: ofTest }] = await receiver.wait(1).then(([{ body }]) => [
      JSON.parse(body).data,
    ]);
    assert.equal(ofTest, null);

    const event = { level: "error", service: "shop", msg: "out of stock" };
    const other = { level: "info", service: "shop", msg: "sold" };
    const began = performance.now();
    const sent = await ingest(tenant.headers, [event, event, event, other]);
    assert.equal(sent.status, 200);

    const [, webhook] = await receiver.wait(2);
    const took = webhook.at - began;
    console.log(`from ingest to webhook: ${(took / 1000).toFixed(1)} s`);
    const mail = await mailbox.wait(email, "[Logloom] Errors");
    const [alert] = await eventually("both are noted", async () => {
      const alerts = await clientOf(tenant.token).call("list_alert_history", {});
      return alerts[0].notification_channels.length === 2 && alerts;
    });

    const payload = new Webhook(secret).verify(webhook.body, webhook.headers) as {
      type: string;
      data: Record<string, unknown>;
    };
    assert.equal(webhook.path, "/hook");
    assert.equal(payload.type, "alert.triggered");
    assert.deepEqual(
      [payload.data.alert_id, payload.data.rule_id, payload.data.value, payload.data.name],
      [alert.alert_id, rule.rule_id, 3, "Errors of the shop"],
    );
    assert.match(mail.text, /^Subject: \[Logloom\] Errors of the shop: 3\r$/m);

    assert.deepEqual([alert.value, alert.threshold, alert.rule_id], [3, 2, rule.rule_id]);
    assert.equal(Date.parse(alert.window_end) - Date.parse(alert.window_start), 5 * 60_000);
    assert.equal(alert.notification_sent, true);
    assert.deepEqual(alert.notification_channels.toSorted(), ["email", "webhook"]);
    assert.equal(alert.notification_error, null);
    const deliveries = await clientOf(tenant.token).call("list_alert_deliveries", {
      p_alert_id: alert.alert_id,
    });
    assert.deepEqual(
      deliveries.map(({ channel, status, attempts }) => [channel, status, attempts]).toSorted(),
      [["email", "delivered", 1], ["webhook", "delivered", 1]],
    );
    const evaluated = await clientOf(tenant.token).call("get_alert_rule", {
      p_rule_id: rule.rule_id,
    });
    assert.deepEqual([evaluated.last_value, evaluated.last_error], [3, null]);
    assert.equal(Date.parse(evaluated.last_evaluated_at ?? "") % 60_000, 0);

    // A user acknowledges the alert.
    const stranger = await newTenant("alerts");
    const parameters = { p_alert_id: alert.alert_id };
    assertRpcError(
      await rpc(stranger.token, "acknowledge_alert", parameters),
      404,
      "Alert not found",
    );
    for (let time = 0; time < 2; time++) {
      assert.deepEqual(await clientOf(tenant.token).call("acknowledge_alert", parameters), {
        success: true,
      });
    }
    const [acknowledged] = await clientOf(tenant.token).call("list_alert_history", {
      p_acknowledged: true,
    });
    assert.deepEqual(
      [acknowledged.acknowledged, acknowledged.acknowledged_by],
      [true, tenant.userId],
    );
    // The cooldown holds: one alert, one webhook.
    assert.equal((await clientOf(tenant.token).call("list_alert_history", {})).length, 1);
    assert.equal(receiver.received.length, 2);
  },
  "a new error is told once, and its end when it is resolved": async () => {
    const tenant = await newTenant("alerts");
    const client = clientOf(tenant.token);
    await using receiver = receiveWebhooks();
    await client.call("create_alert_rule", {
      p_name: "New errors",
      p_kind: "new_error",
      p_query_dsl: "service:shop",
      p_enabled: true,
      p_notify_on_recovery: true,
      p_notification_destinations: ["webhook"],
      p_notification_config: { webhook_url: `${receiver.url}/new` },
    });
    const event = { level: "error", service: "shop", msg: "Order 7 failed", user_id: "u1" };
    assert.equal((await ingest(tenant.headers, [event, { ...event, service: "web" }])).status, 200);
    const [told] = await receiver.wait(1);
    const { data } = JSON.parse(told.body);
    assert.deepEqual(
      [data.value, data.group.error, data.group.service],
      [1, "Order <*> failed", "shop"],
    );

    // A program reads the group with a key.
    const { key_value } = await client.call("create_api_key", { p_name: "r", p_scopes: ["read"] });
    const { status, body } = await call("/functions/v1/logloom-read/v1/list_error_groups", {
      method: "POST",
      headers: { authorization: `Bearer ${key_value}`, "content-type": "application/json" },
      body: JSON.stringify({ p_state: ["new"], p_service: "shop" }),
    });
    assert.equal(status, 200, JSON.stringify(body));
    const [group, ...others] = body as unknown as ErrorGroup[];
    assert.deepEqual(
      // The next hour may have begun.
      [group.fingerprint, group.records, group.users, group.hours[22] + group.hours[23], others],
      [data.group.fingerprint, 1, 1, 1, []],
    );

    assert.equal((await ingest(tenant.headers, [event])).status, 200);
    await eventually("the second is counted", async () => {
      const [{ records }] = await client.call("list_error_groups", { p_service: "shop" });
      return records === 2;
    });
    await client.call("update_error_group", {
      p_fingerprints: [group.fingerprint],
      p_state: "resolved",
    });
    const [, ended] = await receiver.wait(2);
    const end = JSON.parse(ended.body);
    assert.deepEqual([end.type, end.data.group.fingerprint], ["alert.resolved", group.fingerprint]);
  },
  "a rule that is made between two rounds counts the same records as a search, and does not fire":
    async () => {
      const tenant = await newTenant("alerts");
      const event = { level: "error", service: "shop", msg: "out of stock" };
      assert.equal((await ingest(tenant.headers, Array(5).fill(event))).status, 200);
      await eventually("a search shows all five", async () => {
        const { logs } = await clientOf(tenant.token).call("search_logs", {
          p_query_dsl: "level:error service:shop",
        });
        return logs.length === 5;
      });
      const { rule_id } = await createRule(tenant, {
        ...ofShop,
        p_threshold: 5,
        p_comparison: "lt",
      });
      const rule = await eventually("its first evaluation", async () => {
        const rule = await clientOf(tenant.token).call("get_alert_rule", { p_rule_id: rule_id });
        return rule.last_evaluated_at !== null && rule;
      });
      assert.deepEqual([rule.last_value, rule.last_error], [5, null]);
      assert.deepEqual(await clientOf(tenant.token).call("list_alert_history", {}), []);
    },
});

Deno.test("a receiver that fails three times gets the same webhook until it accepts it", async () => {
  const tenant = await newTenant("alerts");
  await using db = openDatabase();
  await using _hurried = await changeConstant(db, "notification_retry_base", "interval '10 ms'");
  await using receiver = receiveWebhooks((before) =>
    new Response(null, { status: before < 3 ? 500 : 200 })
  );
  const rule = await createRule(tenant, {
    ...ofShop,
    p_notification_destinations: ["webhook"],
    p_notification_config: { webhook_url: receiver.url },
  });
  const { secret } = await clientOf(tenant.token).call("rotate_alert_webhook_secret", {
    p_rule_id: rule.rule_id,
  });
  const [test] = await clientOf(tenant.token).call("test_alert_rule", { p_rule_id: rule.rule_id });
  const received = await receiver.wait(4);
  const [delivery] = await eventually("the delivery is settled", async () => {
    const deliveries = await clientOf(tenant.token).call("list_alert_deliveries", {
      p_rule_id: rule.rule_id,
    });
    return deliveries[0].status !== "pending" && deliveries;
  });
  assert.deepEqual(
    [delivery.delivery_id, delivery.status, delivery.attempts, delivery.last_status],
    [test.delivery_id, "delivered", 4, 200],
  );
  for (const { headers, body } of received) {
    const payload = new Webhook(secret).verify(body, headers) as { type: string };
    assert.equal(payload.type, "alert.test");
    assert.equal(headers["webhook-id"], test.delivery_id);
    assert.equal(body, received[0].body);
  }
});

Deno.test("a receiver that answers 410 gets nothing more until the rule is tested again", async () => {
  const tenant = await newTenant("alerts");
  await using receiver = receiveWebhooks((before) =>
    new Response(null, { status: before === 0 ? 410 : 204 })
  );
  const rule = await createRule(tenant, {
    ...ofShop,
    p_notification_destinations: ["webhook"],
    p_notification_config: { webhook_url: receiver.url },
  });
  await clientOf(tenant.token).call("test_alert_rule", { p_rule_id: rule.rule_id });
  const settled = (status: string) =>
    eventually(`the delivery is ${status}`, async () => {
      const [delivery] = await clientOf(tenant.token).call("list_alert_deliveries", {
        p_rule_id: rule.rule_id,
      });
      return delivery.status === status && delivery;
    });
  const failed = await settled("failed");
  assert.deepEqual(
    [failed.attempts, failed.last_status, failed.last_error],
    [1, 410, "HTTP 410: the receiver is gone"],
  );
  await clientOf(tenant.token).call("retry_alert_delivery", { p_delivery_id: failed.delivery_id });
  const delivered = await settled("delivered");
  assert.deepEqual([delivered.attempts, delivered.last_status], [2, 204]);
});

Deno.test("a webhook to an internal address fails before anything is sent", async () => {
  const tenant = await newTenant("alerts");
  const rule = await createRule(tenant, {
    ...ofShop,
    p_notification_destinations: ["webhook"],
    p_notification_config: { webhook_url: "https://localhost/hook" },
  });
  await clientOf(tenant.token).call("test_alert_rule", { p_rule_id: rule.rule_id });
  const delivery = await eventually("the delivery is settled", async () => {
    const [delivery] = await clientOf(tenant.token).call("list_alert_deliveries", {
      p_rule_id: rule.rule_id,
    });
    return delivery.status !== "pending" && delivery;
  });
  assert.deepEqual(
    [delivery.status, delivery.last_error],
    ["failed", "The host is not on the public Internet"],
  );
});

Deno.test("nobody but the database's job starts deliveries", async () => {
  const guesses: Record<string, string>[] = [{}, { "X-Logloom-Notify-Secret": "guessed" }];
  for (const headers of guesses) {
    const answer = await call("/functions/v1/logloom-notify", {
      method: "POST",
      headers,
      body: "{}",
    });
    assert.equal(answer.status, 401);
    assert.deepEqual(answer.body, { error: "Invalid secret" });
  }
});

Deno.test("a tenant that creates, tests and deletes rules cannot mail strangers", async () => {
  const tenant = await newTenant("relay");
  await using db = openDatabase();
  await using mailbox = await receiveEmails();
  const spam = "BUY NOW at spam.example";
  const stranger = (n: number) => `stranger${n}.${tenant.id}@example.com`;
  const ruleFor = (email: string) =>
    createRule(tenant, {
      ...ofShop,
      p_name: spam,
      p_description: spam,
      p_notification_destinations: ["email"],
      p_notification_config: { email },
    });
  const settled = () =>
    eventually("all that was asked for is settled", async () => {
      const rows = await db`
        select from logloom_private.notifications
        where tenant_id = ${tenant.id} and status = 'pending'`;
      return rows.length === 0;
    });
  const statuses: number[] = [];
  {
    await using _stopped = await stopJob(db, "send_notifications");
    for (let n = 0; n < 30; n++) {
      const { rule_id: p_rule_id } = await ruleFor(stranger(n));
      const tested = await rpc<AlertDelivery[]>(tenant.token, "test_alert_rule", { p_rule_id });
      statuses.push(tested.status);
      if (tested.status === 200) {
        assert.deepEqual(tested.body.map(({ status }) => status), ["failed"]);
      } else {
        assertRpcError(tested, 429, "The plan allows 20 tests an hour by email");
        assert.ok(Number(tested.headers.get("retry-after")) > 3000);
      }
      await clientOf(tenant.token).call("delete_alert_rule", { p_rule_id });
    }
  }
  assert.deepEqual(statuses, [...Array(20).fill(200), ...Array(10).fill(429)]);
  await settled();
  const mailsToStrangers = () =>
    mailbox.received.filter(({ to }) => to.some((address) => address.includes(tenant.id)));
  assert.deepEqual(mailsToStrangers(), []);

  // A rule that is kept mails no stranger either, because the day's ten codes are used up.
  const { rule_id } = await ruleFor(stranger(31));
  await db`
    insert into logloom.alert_history (tenant_id, rule_id, value, threshold)
    values (${tenant.id}, ${rule_id}, 3, 2)`;
  await settled();
  assert.deepEqual(mailsToStrangers(), []);
  const [alert] = await clientOf(tenant.token).call("list_alert_history", {});
  assert.deepEqual([alert.notification_sent, alert.notification_channels], [false, []]);
  assert.match(alert.notification_error ?? "", /^email: The address is not confirmed: /);

  // Another tenant keeps its rules. Strangers get its mails, but without the tenant's text.
  const other = await newTenant("relay");
  for (const n of [1, 2, 3]) {
    await createRule(other, {
      ...ofShop,
      p_name: spam,
      p_notification_destinations: ["email"],
      p_notification_config: { email: `stranger${n}.${other.id}@example.com` },
    });
  }
  for (const n of [1, 2, 3]) {
    const { text } = await mailbox.wait(`stranger${n}.${other.id}@example.com`);
    assert.match(text, /^Subject: \[Logloom\] Confirm this address\r$/m);
    assert.ok(!text.includes("spam"));
  }
});

Deno.test("a tenant's webhooks are limited by the hour, also if its rules are deleted", async () => {
  const tenant = await newTenant("webhooks");
  await using db = openDatabase();
  await putOnPlan(db, tenant, { webhooks_per_hour: 3 });
  const hour = () => Math.floor(Date.now() / 3_600_000);
  const began = hour();
  await using receiver = receiveWebhooks();
  const tests: number[] = [];
  for (let n = 0; n < 4; n++) {
    const { rule_id: p_rule_id } = await createRule(tenant, {
      ...ofShop,
      p_notification_destinations: ["webhook"],
      p_notification_config: { webhook_url: receiver.url },
    });
    tests.push((await rpc(tenant.token, "test_alert_rule", { p_rule_id })).status);
    if (n < 3) await clientOf(tenant.token).call("delete_alert_rule", { p_rule_id });
    else {
      await db`
        insert into logloom.alert_history (tenant_id, rule_id, value, threshold)
        select ${tenant.id}, ${p_rule_id}, n, 2 from generate_series(1, 5) n`;
    }
  }
  // The limit counts per hour, so this is only checked if no new hour has begun.
  if (hour() === began) assert.deepEqual(tests, [200, 200, 200, 429]);
  await eventually("what is beyond waits", async () => {
    const [row] = await db`
      select
        count(*) filter (where last_error like 'The plan allows 3 in an hour%')::integer as waiting,
        count(*) filter (where status = 'pending')::integer as pending
      from logloom_private.notifications where tenant_id = ${tenant.id}`;
    return row.pending === row.waiting && row.waiting > 0;
  });
  // A test of a deleted rule counts as an attempt, but sends nothing.
  const hours = 1 + hour() - began;
  assert.ok(receiver.received.length <= 3 * hours, `${receiver.received.length}`);
});
