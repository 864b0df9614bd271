import assert from "node:assert/strict";
import {
  assertAnswer,
  bearer,
  clientOf,
  ingest,
  newTenant,
  type Tenant,
} from "../support/client.ts";
import type { ParametersOf } from "../../packages/logloom/src/read.ts";
import { openDatabase, recordsOf } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { sealed } from "../support/streams.ts";
import { stack } from "../support/stack.ts";

type Action = ParametersOf<"create_ingest_rule">["p_action"] & object;

async function withRules(
  ...rules: [name: string, condition: string, action: Action, secrets?: Record<string, string>][]
): Promise<Tenant> {
  const tenant = await newTenant("ruled");
  for (const [p_name, p_condition, p_action, p_secrets] of rules) {
    await clientOf(tenant.token).call("create_ingest_rule", {
      p_name,
      p_condition,
      p_action,
      ...p_secrets !== undefined && { p_secrets },
    });
  }
  return tenant;
}

/** Sends one log record by OTLP. */
function sendOtlp(tenant: Tenant, body: string): Promise<Response> {
  return fetch(`${stack.url}/functions/v1/ingest/v1/logs`, {
    method: "POST",
    headers: { "content-type": "application/json", ...tenant.headers },
    body: JSON.stringify({
      resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: body } }] }] }],
    }),
  });
}

const mask = { type: "mask", what: ["email"], in: "everywhere" };

Deno.test("rules mask, drop, sample, parse and set, in their order", async () => {
  const tenant = await withRules(
    ["mask", "", mask],
    ["drop", "level:debug", { type: "drop" }],
    ["parse", "service:shop", { type: "parse", pattern: "order <order> failed" }],
    ["set", "service:shop", { type: "set", f: "env", value: "prod" }],
    ["remove", "", { type: "remove", a: "secret" }],
    ["level", "critical", { type: "level", from: "error" }],
    ["sample", "service:web", { type: "sample", rate: 0.5, by: "req_id" }],
  );
  const { status, body } = await ingest(tenant.headers, [
    { level: "info", service: "shop", msg: "order 7 failed", attrs: { secret: 1, to: "a@b.co" } },
    { level: "debug", service: "shop", msg: "left out" },
    { level: "info", service: "api", msg: "critical: mail to a@example.com", user_id: "a@b.co" },
    ...Array.from({ length: 40 }, (_, n) => ({ service: "web", req_id: `r${n >> 1}`, msg: "hit" })),
  ]);
  assert.deepEqual([status, body.success, body.ingested, body.rejected], [200, true, 43, 0]);
  await using db = openDatabase();
  const records = await recordsOf(db, tenant.id, 43 - Number(body.dropped));
  const [shop, api, ...web] = records.map(({ level, msg, env, user_id, attrs }) => ({
    level,
    msg,
    env,
    user_id,
    attrs,
  }));
  assert.deepEqual([shop, api], [
    {
      level: "info",
      msg: "order 7 failed",
      env: "prod",
      user_id: null,
      attrs: { to: "[email]", order: "7" },
    },
    {
      level: "error",
      msg: "critical: mail to [email]",
      env: null,
      user_id: "[email]",
      attrs: null,
    },
  ]);
  // Both records of a request are kept, or none.
  assert.ok(web.length > 0 && web.length < 40 && web.length % 2 === 0, `${web.length}`);
  assert.deepEqual(new Set(web.map(({ attrs }) => JSON.stringify(attrs))).size, 1);
  assert.deepEqual(web[0].attrs, { sample_rate: 0.5 });

  // The counts are added when the batch is metered.
  const usage = await eventually("the usage", async () => {
    const usage = await clientOf(tenant.token).call("get_tenant_usage", {});
    return usage.rules.length === 7 ? usage : undefined;
  });
  assert.equal(usage.dropped, Number(body.dropped));
  const rules = await clientOf(tenant.token).call("list_ingest_rules", {});
  const byName = Object.fromEntries(rules.map(({ name, rule_id }) => {
    return [name, usage.rules.filter((hour) => hour.rule_id === rule_id)[0]];
  }));
  const { seen, matched, masked } = byName.mask;
  assert.deepEqual([seen, matched, masked], [43, 43, 3]);
  assert.deepEqual([byName.drop.seen, byName.drop.dropped], [43, 1]);
  assert.equal(byName.sample.sampled, 40 - web.length);
});

Deno.test("a change is in force with the next request, by every protocol", async () => {
  const tenant = await withRules(["mask", "", mask]);
  const client = clientOf(tenant.token);
  await ingest(tenant.headers, [{ msg: "first a@b.co" }]);
  const [{ rule_id: p_rule_id }] = await client.call("list_ingest_rules", {});
  await client.call("update_ingest_rule", { p_rule_id, p_condition: "level:error" });
  await ingest(tenant.headers, [{ msg: "second a@b.co" }]);
  await client.call("update_ingest_rule", { p_rule_id, p_condition: "" });
  assert.equal((await sendOtlp(tenant, "third a@b.co")).status, 200);
  await client.call("delete_ingest_rule", { p_rule_id });
  await ingest(tenant.headers, [{ msg: "fourth a@b.co" }]);
  await using db = openDatabase();
  const records = await recordsOf(db, tenant.id, 4);
  assert.deepEqual(records.map(({ msg }) => msg), [
    "first [email]",
    "second a@b.co",
    "third [email]",
    "fourth a@b.co",
  ]);
});

Deno.test("a repeat after a change of the rules stores nothing twice and loses nothing", async () => {
  const tenant = await newTenant("ruled");
  const ts = new Date().toISOString();
  const events = Array.from({ length: 3 }, (_, n) => ({ ts, level: "debug", msg: `event ${n}` }));
  const send = () => ingest({ ...tenant.headers, "Idempotency-Key": "the same" }, events);
  assertAnswer(await send(), 200, { success: true, ingested: 3, rejected: 0 });
  await clientOf(tenant.token).call("create_ingest_rule", {
    p_name: "drop",
    p_condition: "level:debug",
    p_action: { type: "drop" },
  });
  assertAnswer(await send(), 200, { success: true, ingested: 3, rejected: 0 });
  const all = { success: true, ingested: 3, rejected: 0, dropped: 3 };
  const dropped = { ...tenant.headers, "Idempotency-Key": "dropped" };
  assertAnswer(await ingest(dropped, events), 200, all);
  assertAnswer(await ingest(dropped, events), 200, all);
  await using db = openDatabase();
  assert.equal((await recordsOf(db, tenant.id, 3)).length, 3);
});

Deno.test("hashes of a tenant's own key group what is hidden", async () => {
  const tenants = [await newTenant("ruled"), await newTenant("ruled")];
  const seen: string[][] = [];
  await using db = openDatabase();
  for (const tenant of tenants) {
    const p_secrets = await sealed(tenant, { hash_key: `key of ${tenant.id}` }, "ingest");
    await clientOf(tenant.token).call("create_ingest_rule", {
      p_name: "hash",
      p_action: { ...mask, hash: true },
      p_secrets,
    });
    const [a, b] = ["a@b.co", "c@d.co"];
    await ingest(tenant.headers, [a, b, a].map((address) => ({ msg: `mail to ${address}` })));
    seen.push((await recordsOf(db, tenant.id, 3)).map(({ msg }) => `${msg}`));
  }
  for (const [first, second, third] of seen) {
    assert.match(first, /^mail to \[email:[0-9a-f]{8}\]$/);
    assert.equal(third, first);
    assert.notEqual(second, first);
  }
  assert.notEqual(seen[0][0], seen[1][0]);
});

Deno.test("rules see the service of an ingest token, and cannot change it", async () => {
  const tenant = await withRules(
    ["mask", "service:web", mask],
    ["set", "", { type: "set", f: "service", value: "web" }],
  );
  const { token } = await clientOf(tenant.token).call("create_ingest_token", { p_service: "web" });
  const { body } = await ingest(bearer(token), [
    { msg: "forged", service: "payments" },
    { msg: "from a@b.co" },
  ]);
  const message = "The token may only send for the service web";
  assert.deepEqual([body.ingested, body.errors], [1, [
    { index: 0, code: "service_is_another", message },
  ]]);
  await using db = openDatabase();
  const [{ service, msg }] = await recordsOf(db, tenant.id, 1);
  assert.deepEqual([service, msg], ["web", "from [email]"]);
});
