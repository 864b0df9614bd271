import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { command } from "../../local/run_command.ts";
import { databasePassword } from "../../local/stack.ts";
import { findSystem } from "../../local/system.ts";
import { createRule } from "../support/alert_rules.ts";
import { clientOf, createKey, newTenant } from "../support/client.ts";
import { openDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { putOnPlan } from "../support/plans.ts";
import { stack } from "../support/stack.ts";
import { newStream, sealed } from "../support/streams.ts";

/** Returns the whole database as plain SQL. */
async function dump(): Promise<string> {
  const system = await findSystem();
  assert.ok(system, "the stack that is dumped runs on a system");
  const { hostname, port, username, pathname } = new URL(stack.adminDatabaseUrl);
  return await command(
    system.command("postgres", `${system.postgresBin}/pg_dump`, [
      `--host=${hostname}`,
      `--port=${port}`,
      `--username=${username}`,
      pathname.slice(1),
    ]),
    { cwd: "/", env: { PGPASSWORD: databasePassword }, failure: "pg_dump failed" },
  );
}

/**
 * Returns the forms that a text may have in a dump: plain, in hexadecimal (bytea), and in both kinds of base64 at each
 * of the three alignments.
 */
function formsOf(text: string): string[] {
  const bytes = Buffer.from(text);
  // Neighbouring text changes the first and last characters, so these are left out.
  const aligned = [0, 1, 2].map((at) => {
    const whole = at === 0 ? bytes : bytes.subarray(3 - at);
    return whole.subarray(0, whole.length - whole.length % 3);
  });
  return [
    text,
    bytes.toString("hex"),
    bytes.toString("hex").toUpperCase(),
    ...aligned.flatMap((part) => [part.toString("base64"), part.toString("base64url")]),
  ];
}

const holds = (text: string, secret: string) => formsOf(secret).some((form) => text.includes(form));

Deno.test("a secret is found in any form in a text", () => {
  const secret = "a s3cret?>~ of 25 letters";
  for (const before of ["", "x", "xy", "xyz"]) {
    const bytes = Buffer.from(`${before}${secret}y`);
    for (const form of ["utf8", "hex", "base64", "base64url"] as const) {
      assert.ok(holds(`… ${bytes.toString(form)} …`, secret), `${form} after ${before.length}`);
    }
  }
  assert.ok(!holds("another text, and b64 of it: YW5vdGhlciB0ZXh0", secret));
});

Deno.test("a dump holds no secret of a stream, a channel, a webhook or a key", async () => {
  await using sql = openDatabase();
  const tenant = await newTenant("dumped");
  await putOnPlan(sql, tenant, { max_log_streams: 4 });
  const client = clientOf(tenant.token);
  const unique = () => crypto.randomUUID();
  // Nothing is sent in this test; only the stored data counts.
  const ofStreams = {
    webhook: {
      signing_secret: `whsec_${btoa(unique().slice(0, 32))}`,
      "header.authorization": `Bearer ${unique()}`,
    },
    splunk_hec: { token: unique() },
    datadog: { api_key: unique() },
    s3: { secret_access_key: unique() },
  };
  const configs = {
    webhook: { url: "https://logs.example.com/hook" },
    splunk_hec: { url: "https://splunk.example.com" },
    datadog: { url: "https://datadog.example.com" },
    s3: {
      endpoint: "https://s3.example.com",
      region: "eu-1",
      bucket: "logs",
      access_key_id: unique(),
    },
  };
  const streams: string[] = [];
  for (const [kind, secrets] of Object.entries(ofStreams)) {
    const { name } = await newStream(tenant, {
      p_kind: kind as keyof typeof configs,
      p_config: configs[kind as keyof typeof configs],
      p_enabled: false,
    }, secrets);
    streams.push(name);
  }
  const ofChannels = {
    slack_url: `https://hooks.slack.com/services/${unique()}`,
    discord_url: `https://discord.com/api/webhooks/${unique()}`,
    teams_url: `https://teams.example.com/${unique()}`,
    pagerduty_key: unique().replaceAll("-", ""),
  };
  const rule = await createRule(tenant, {
    p_name: `rule-${unique()}`,
    p_notification_destinations: ["webhook", "slack", "discord", "teams", "pagerduty"],
    p_notification_config: { webhook_url: "https://hooks.example.com/alerts" },
    p_secrets: await sealed(tenant, ofChannels, "logloom-notify"),
  });
  const rotate = () =>
    client.call("rotate_alert_webhook_secret", { p_rule_id: rule.rule_id })
      .then(({ secret }) => secret);
  const [first, second] = [await rotate(), await rotate()];
  const { key_value } = await createKey(tenant);
  const kept = await eventually("both secrets of the webhook are sealed", async () => {
    const [row] = await sql<{ secret: string; previous_secret: string }[]>`
      select secret, previous_secret from logloom_private.webhook_secrets
      where rule_id = ${rule.rule_id}`;
    return [row.secret, row.previous_secret].every((one) => one.startsWith("lls1.")) && row;
  });

  const text = await dump();
  for (const there of [tenant.id, ...streams, rule.rule_id, kept.secret, kept.previous_secret]) {
    assert.ok(text.includes(there), `the dump has ${there}`);
  }
  const secrets = {
    ...Object.assign({}, ...Object.values(ofStreams)),
    ...ofChannels,
    first,
    second,
    key_value,
  };
  assert.equal(Object.keys(secrets).length, 12);
  for (const [name, secret] of Object.entries<string>(secrets)) {
    assert.ok(!holds(text, secret), `the dump has the secret ${name}`);
    // The secret part, without its prefix.
    const core = secret.slice(-24);
    assert.ok(!holds(text, core), `the dump has the end of the secret ${name}`);
  }
  // The decoded bytes are the signing key.
  for (const secret of [first, second, ofStreams.webhook.signing_secret]) {
    const key = Buffer.from(secret.slice("whsec_".length), "base64");
    assert.ok(!text.includes(key.toString("hex")), "the dump has the key of a webhook");
  }
});
