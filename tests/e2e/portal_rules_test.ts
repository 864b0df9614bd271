import assert from "node:assert/strict";
import type { AlertAddress } from "../../packages/logloom/src/read.ts";
import { bearer, call, clientOf, ingest, newTenant } from "../support/client.ts";
import { openDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { receiveEmails, receiveWebhooks } from "../support/receivers.ts";

interface Answer {
  readonly customer: string;
  readonly view_id: string | null;
  readonly message: string;
  readonly p_secrets: Record<string, string>;
  readonly deliveries: Record<"channel" | "status" | "last_error", string>[];
}

Deno.test("a customer's rule counts and shows only their records, and mails where they confirmed", async () => {
  await using receiver = receiveWebhooks();
  await using mailbox = await receiveEmails();
  await using db = openDatabase();
  const tenant = await newTenant("portal-rules");
  const email = `${tenant.id}@example.com`;
  const sessionOf = async (customer: string) => {
    const { token } = await clientOf(tenant.token).call("create_log_portal_session", {
      p_parts: ["alerts"],
      p_customer: customer,
      p_query_dsl: `@customer:${customer}`,
    });
    return <Body = Answer>(path: string, body: unknown) =>
      call<Body>(`/functions/v1/${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...bearer(token ?? "") },
        body: JSON.stringify(body),
      });
  };
  const [mine, theirs] = [await sessionOf("42"), await sessionOf("43")];
  // What the tenant confirmed does not count.
  await db`
    insert into logloom_private.notification_addresses (tenant_id, mailbox, confirmed_at)
    values (${tenant.id}, ${email}, now())`;
  const sealed = await theirs("logloom-notify/v1/seal", {
    p_secrets: { slack_url: "https://hooks.slack.example/theirs" },
  });
  const { status, body: rule } = await mine("logloom-read/v1/create_alert_rule", {
    p_name: "Errors",
    p_query_dsl: "level:error OR level:info",
    p_threshold: 1,
    p_comparison: "gt",
    p_window_minutes: 5,
    p_cooldown_minutes: 60,
    p_enabled: true,
    p_notification_destinations: ["webhook", "email", "slack"],
    p_notification_config: { email, webhook_url: `${receiver.url}/42` },
    p_secrets: sealed.body.p_secrets,
  });
  assert.deepEqual([status, rule.customer, rule.view_id], [200, "42", null]);
  const confirm = (p_code: string) =>
    mine("logloom-read/v1/confirm_alert_address", { p_email: email, p_code });
  const code = await mailbox.waitForCode(email);
  const wrong = await confirm(`${(Number(code) + 1) % 1_000_000}`.padStart(6, "0"));
  assert.deepEqual([wrong.status, wrong.body.message], [400, "The code is wrong"]);
  const { body: addresses } = await mine<AlertAddress[]>(
    "logloom-read/v1/list_alert_addresses",
    {},
  );
  assert.deepEqual([addresses[0].confirmed, addresses[0].tries_left], [false, 4]);
  assert.equal((await confirm(code)).status, 200);

  await ingest(
    tenant.headers,
    [42, 42, 43, 43, 43].map((customer) => ({ level: "error", msg: `of ${customer}`, customer })),
  );
  const [webhook] = await receiver.wait(1);
  const { data } = JSON.parse(webhook.body);
  assert.deepEqual([webhook.path, data.value, data.url], ["/42", 2, null]);
  assert.deepEqual(data.logs.map(({ msg }: { msg: string }) => msg), ["of 42", "of 42"]);
  assert.doesNotMatch(webhook.body, /@customer/);
  await mailbox.wait(email, "[Logloom] Errors");
  const deliveries = await eventually("all deliveries end", async () => {
    const { body } = await mine("logloom-read/v1/get_alert_incident", {
      p_incident_id: data.incident_id,
    });
    const ended = body.deliveries.map(({ channel, status, last_error }) =>
      `${channel} ${status} ${last_error ?? ""}`
    );
    return ended.every((one) => !one.includes("pending")) && ended.sort();
  });
  assert.match(
    deliveries.join("\n"),
    /^email delivered \nslack failed .*opened.*\nwebhook delivered/,
  );
  assert.equal(
    (await theirs("logloom-read/v1/get_alert_incident", { p_incident_id: data.incident_id }))
      .status,
    404,
  );
});
