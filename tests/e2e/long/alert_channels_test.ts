import assert from "node:assert/strict";
import { Webhook } from "standardwebhooks";
import type { AlertRule } from "../../../packages/logloom/src/read.ts";
import { createRule } from "../../support/alert_rules.ts";
import { call, clientOf, ingest, newTenant, type Tenant } from "../../support/client.ts";
import {
  changeConstant,
  changeSettings,
  type Database,
  openDatabase,
} from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { type ReceivedWebhook, receiveWebhooks } from "../../support/receivers.ts";

/** Seals secrets like a client. */
async function seal(tenant: Tenant, secrets: Record<string, string>) {
  const { status, body } = await call<{ p_secrets: Record<string, string> }>(
    "/functions/v1/logloom-notify/v1/seal",
    {
      method: "POST",
      headers: { Authorization: `Bearer ${tenant.token}`, "Content-Type": "application/json" },
      body: JSON.stringify({ p_secrets: secrets }),
    },
  );
  assert.equal(status, 200, JSON.stringify(body));
  return body.p_secrets;
}

const ofEverybody = {
  p_name: "Errors of <!channel> @everyone",
  p_query_dsl: "level:error | count() by service",
  p_threshold: 2,
};

/** Adds an alert of the rule, as if a round had just found it. */
async function fire(db: Database, rule: AlertRule, value = 3): Promise<void> {
  await db`
    select logloom_private.settle_alert_windows(
      array[row(
        r.rule_id, date_trunc('minute', now()) - interval '4 minutes',
        date_trunc('minute', now()) + interval '1 minute', ${value}::float8, null,
        '{"service": "shop"}'::jsonb, null
      )::logloom_private.alert_window],
      o, now()
    )
    from logloom.alert_rules r, logloom_private.alert_rounds o
    where r.rule_id = ${rule.rule_id}`;
}

const pagerdutyPort = () => Number(new URL(Deno.env.get("LOGLOOM_PAGERDUTY_URL") ?? "").port);

Deno.test("an alert reaches each channel in its form, with the newest records and a link", async () => {
  const tenant = await newTenant("channels");
  await using db = openDatabase();
  await using _settings = await changeSettings(db, { console_url: "https://logs.example/console" });
  await using _hurried = await changeConstant(db, "notification_retry_base", "interval '10 ms'");
  // Discord answers with a limit first.
  const before = new Map<string, number>();
  const answers = (path: string) => {
    const count = before.get(path) ?? 0;
    before.set(path, count + 1);
    return path === "/discord" && count === 0
      ? new Response("{}", { status: 429, headers: { "X-RateLimit-Reset-After": "0.1" } })
      : new Response(null, { status: path === "/teams" ? 202 : 200 });
  };
  await using receiver = receiveWebhooks((_, path) => answers(path));
  await using pager = receiveWebhooks(() => new Response("{}", { status: 202 }), pagerdutyPort());
  const secrets = await seal(tenant, {
    slack_url: `${receiver.url}/slack`,
    discord_url: `${receiver.url}/discord`,
    teams_url: `${receiver.url}/teams`,
    pagerduty_key: "R0123456789012345678901234567890",
  });
  const rule = await createRule(tenant, {
    ...ofEverybody,
    p_notification_destinations: ["slack", "discord", "teams", "pagerduty", "webhook"],
    p_notification_config: {
      webhook_url: `${receiver.url}/hook`,
      webhook_template: '{"text": "{{rule.name}} {{value}} {{group_text}}", ' +
        '"logs": [{{#logs}}"{{msg}}",{{/logs}}""]}',
    },
    p_secrets: secrets,
  });
  assert.deepEqual(rule.notification_secrets, {
    slack_url: { set: true },
    discord_url: { set: true },
    teams_url: { set: true },
    pagerduty_key: { set: true },
  });
  const { secret } = await clientOf(tenant.token).call("rotate_alert_webhook_secret", {
    p_rule_id: rule.rule_id,
  });
  const events = [1, 2, 3, 4].map((n) => ({
    level: "error",
    service: "shop",
    msg: `stock "${n}" <!channel> @everyone`,
  }));
  await ingest(tenant.headers, [...events, { level: "error", service: "api", msg: "other" }]);
  await eventually("a search shows them", async () => {
    const { logs } = await clientOf(tenant.token).call("search_logs", {});
    return logs.length === 5;
  });
  await fire(db, rule, 4);

  const arrived = (path: string, count = 1) =>
    eventually(`${count} at ${path}`, () => {
      const found = receiver.received.filter((one) => one.path === path);
      return Promise.resolve(found.length >= count && found[count - 1]);
    });
  const [slack, discord, teams, hook] = await Promise.all([
    arrived("/slack"),
    arrived("/discord", 2),
    arrived("/teams"),
    arrived("/hook"),
  ]);
  const parsed = ({ body }: ReceivedWebhook) => JSON.parse(body);
  assert.equal(parsed(slack).text, "🔴 Errors of &lt;!channel&gt; @everyone: 4");
  assert.match(slack.body, /stock \\"4\\" <!channel> @everyone/);
  assert.match(slack.body, /https:\/\/logs\.example\/console#q=level%3Aerror%20%7C%20where/);
  assert.ok(!slack.body.includes("other"), "the records are those of the group");
  assert.deepEqual(parsed(discord).allowed_mentions, { parse: [] });
  assert.equal(parsed(teams).attachments[0].content.type, "AdaptiveCard");
  const made = new Webhook(secret).verify(hook.body, hook.headers) as {
    text: string;
    logs: string[];
  };
  assert.equal(made.text, "Errors of <!channel> @everyone 4 service=shop");
  assert.equal(made.logs.length, 4, "three records and the last text");
  const [trigger] = await pager.wait(1);
  assert.equal(trigger.path, "/v2/enqueue");
  assert.deepEqual(
    [parsed(trigger).event_action, parsed(trigger).routing_key],
    ["trigger", "R0123456789012345678901234567890"],
  );

  // Ends the alert.
  await db`
    update logloom.alert_rules set enabled = false where rule_id = ${rule.rule_id}`;
  const [, resolve] = await pager.wait(2);
  assert.deepEqual(parsed(resolve), {
    routing_key: "R0123456789012345678901234567890",
    dedup_key: parsed(trigger).dedup_key,
    event_action: "resolve",
  });

  const [incident] = await clientOf(tenant.token).call("list_alert_incidents", {});
  const details = await eventually("all is delivered", async () => {
    const details = await clientOf(tenant.token).call("get_alert_incident", {
      p_incident_id: incident.incident_id,
    });
    return details.deliveries.every(({ status }) => status === "delivered") && details;
  });
  assert.deepEqual(
    details.deliveries.map(({ channel, purpose }) => `${channel} ${purpose}`).sort(),
    [
      "discord alert",
      "pagerduty alert",
      "pagerduty recovery",
      "slack alert",
      "teams alert",
      "webhook alert",
    ],
  );
  assert.deepEqual([details.state, details.resolution], ["resolved", "rule_disabled"]);
});

Deno.test("a database holds no secret of a channel or a webhook in plain text", async () => {
  const tenant = await newTenant("sealed");
  await using db = openDatabase();
  await using receiver = receiveWebhooks();
  const [slackUrl] = [`${receiver.url}/T0000/B0000/${crypto.randomUUID()}`];
  const rule = await createRule(tenant, {
    ...ofEverybody,
    p_notification_destinations: ["webhook", "slack"],
    p_notification_config: { webhook_url: `${receiver.url}/hook` },
    p_secrets: await seal(tenant, { slack_url: slackUrl }),
  });
  // Stores one secret in plain text, like an earlier version, and a new one.
  await db`
    insert into logloom_private.webhook_secrets (rule_id, secret)
    values (${rule.rule_id}, ${`whsec_${btoa("x".repeat(32))}`})`;
  const { secret } = await clientOf(tenant.token).call("rotate_alert_webhook_secret", {
    p_rule_id: rule.rule_id,
  });
  await eventually("both are sealed", async () => {
    const [row] = await db`
      select secret, previous_secret from logloom_private.webhook_secrets
      where rule_id = ${rule.rule_id}`;
    return row.secret.startsWith("lls1.") && row.previous_secret.startsWith("lls1.");
  });
  // Sealed secrets still sign: the new one and, for a day, the previous one.
  await clientOf(tenant.token).call("test_alert_rule", { p_rule_id: rule.rule_id });
  const received = await receiver.wait(2);
  const hook = received.find(({ path }) => path === "/hook");
  assert.ok(hook);
  new Webhook(secret).verify(hook.body, hook.headers);
  new Webhook(`whsec_${btoa("x".repeat(32))}`).verify(hook.body, hook.headers);
  assert.ok(received.some(({ path }) => slackUrl.endsWith(path)));

  const tables = await db`
    select format('%I.%I', n.nspname, c.relname) as name
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('logloom', 'logloom_private') and c.relkind = 'r'
      and c.relname !~ '^(logs|queue|blocks)'`;
  const slackPath = new URL(slackUrl).pathname;
  for (const { name } of tables) {
    const rows = await db.unsafe(
      `select 1 from ${name} t where strpos(t::text, $1) > 0 or strpos(t::text, $2) > 0 limit 1`,
      [secret, slackPath],
    );
    assert.equal(rows.length, 0, `${name} holds a secret`);
  }

  // Another tenant cannot use a sealed text.
  const other = await newTenant("sealed");
  const [{ notification_secrets }] = await db`
    select notification_secrets from logloom.alert_rules where rule_id = ${rule.rule_id}`;
  const stolen = await createRule(other, {
    ...ofEverybody,
    p_notification_destinations: ["slack"],
    p_secrets: notification_secrets,
  });
  await clientOf(other.token).call("test_alert_rule", { p_rule_id: stolen.rule_id });
  const failed = await eventually("it is given up", async () => {
    const [delivery] = await clientOf(other.token).call("list_alert_deliveries", {
      p_rule_id: stolen.rule_id,
    });
    return delivery.status === "failed" && delivery;
  });
  assert.match(failed.last_error ?? "", /^The channel's secret cannot be opened/);
});
