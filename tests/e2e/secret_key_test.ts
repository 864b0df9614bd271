import assert from "node:assert/strict";
import { secretApiKey } from "../../local/signing_keys.ts";
import {
  apiKey,
  assertAnswer,
  bearer,
  call,
  createKey,
  ingest,
  newTenant,
} from "../support/client.ts";
import { changeSettings, openDatabase, recordsOf } from "../support/database.ts";
import { putOnPlan } from "../support/plans.ts";
import { stack } from "../support/stack.ts";
import { userToken } from "../support/tokens.ts";

const secret = bearer(secretApiKey);
const free = {};

/** Makes two tenants and returns them ordered by name. */
async function twoTenants() {
  await using db = openDatabase();
  const tenants = [await newTenant("a"), await newTenant("b")];
  for (const tenant of tenants) await putOnPlan(db, tenant, free);
  return tenants;
}

const took = (tenant: { id: string }, ingested: number, rejected = 0) => ({
  tenant_id: tenant.id,
  ingested,
  rejected,
  status: 200,
});

Deno.test("the secret key sends for the tenant that X-Logloom-Tenant names", async () => {
  const [tenant] = await twoTenants();
  const forms = [
    secret,
    apiKey(secretApiKey),
    { apikey: secretApiKey },
    bearer(stack.serviceRoleKey),
  ];
  for (const [n, headers] of forms.entries()) {
    const answer = await ingest(
      { ...headers, "x-logloom-tenant": tenant.id },
      [{ msg: `by form ${n}`, tenant_id: "an attribute" }],
    );
    assertAnswer(answer, 200, {
      success: true,
      ingested: 1,
      rejected: 0,
      tenants: [took(tenant, 1)],
    });
  }
  await using db = openDatabase();
  const records = await recordsOf(db, tenant.id, forms.length);
  assert.deepEqual(
    records.map(({ msg, attrs }) => [msg, attrs]),
    forms.map((_, n) => [`by form ${n}`, { tenant_id: "an attribute" }]),
  );
});

Deno.test("each event may name its tenant; an event without one is rejected alone", async () => {
  const [a, b] = await twoTenants();
  const answer = await ingest(secret, [
    { msg: "one", tenant_id: a.id, n: 1 },
    { msg: "two", tenant_id: b.id },
    { msg: "whose?" },
    7,
    { msg: "too old", tenant_id: b.id, ts: "2001-01-01T00:00:00Z" },
    { msg: "three", tenant_id: a.id },
  ]);
  const { errors, ...rest } = answer.body as { errors: { index: number; code: string }[] };
  assert.deepEqual([answer.status, rest], [200, {
    success: true,
    ingested: 3,
    rejected: 3,
    tenants: [took(a, 2), took(b, 1, 1)],
  }]);
  assert.deepEqual(
    errors.map(({ index, code }) => [index, code]),
    [[2, "tenant_is_missing"], [3, "not_an_object"], [4, "ts_out_of_range"]],
  );
  await using db = openDatabase();
  assert.deepEqual((await recordsOf(db, a.id, 2)).map(({ msg, attrs }) => [msg, attrs]), [
    ["one", { n: 1 }],
    ["three", null],
  ]);
  assert.deepEqual((await recordsOf(db, b.id, 1)).map(({ msg }) => msg), ["two"]);
});

Deno.test("an unknown tenant is refused alone, unless the setting creates it", async () => {
  const [a] = await twoTenants();
  const unknown = `nobody-${crypto.randomUUID()}`;
  const events = [{ msg: "known", tenant_id: a.id }, { msg: "lost", tenant_id: unknown }];
  const refused = await ingest(secret, events);
  assert.deepEqual([refused.status, refused.body], [200, {
    success: true,
    ingested: 1,
    rejected: 1,
    errors: [],
    tenants: [took(a, 1), {
      tenant_id: unknown,
      ingested: 0,
      rejected: 1,
      status: 404,
      error: `There is no tenant ${unknown}`,
    }],
  }]);
  assertAnswer(await ingest({ ...secret, "x-logloom-tenant": unknown }, [{}]), 404, {
    error: `There is no tenant ${unknown}`,
  });
  await using db = openDatabase();
  await using _setting = await changeSettings(db, { provision_by_secret_key: true });
  assertAnswer(await ingest({ ...secret, "x-logloom-tenant": unknown }, [{}]), 200, {
    success: true,
    ingested: 1,
    rejected: 0,
    tenants: [{ tenant_id: unknown, ingested: 1, rejected: 0, status: 200 }],
  });
});

Deno.test("a tenant that is being deleted, or has an invalid id, counts as unknown, and the secret key stays valid", async () => {
  const [deleted] = await twoTenants();
  const deletion = await call("/rest/v1/rpc/delete_tenant", {
    method: "POST",
    headers: { ...deleted.headers, "content-type": "application/json" },
    body: JSON.stringify({ p_tenant_id: deleted.id }),
  });
  assert.equal(deletion.status, 200, JSON.stringify(deletion.body));
  for (const id of [deleted.id, "\u200b"]) {
    assertAnswer(await ingest(secret, [{ tenant_id: id }]), 404, {
      error: `There is no tenant ${id}`,
    });
  }
});

Deno.test("a tenant over its limit is refused alone, and a repeat stores only the missing events", async () => {
  const [a, b] = await twoTenants();
  await using db = openDatabase();
  await putOnPlan(db, b, { monthly_events_limit: 1 });
  assert.equal((await ingest({ ...secret, "x-logloom-tenant": b.id }, [{}])).status, 200);
  const headers = { ...secret, "idempotency-key": crypto.randomUUID() };
  const events = [{ msg: "first", tenant_id: a.id }, { msg: "second", tenant_id: b.id }];
  const { status, body } = await ingest(headers, events);
  const [ofA, ofB] = body.tenants as Record<string, unknown>[];
  assert.deepEqual([status, body.ingested, body.rejected, ofA], [200, 1, 0, took(a, 1)]);
  assert.deepEqual([ofB.tenant_id, ofB.ingested, ofB.status, ofB.error], [
    b.id,
    0,
    429,
    "Monthly event limit reached: 1 events",
  ]);
  assert.ok(Number(ofB.retry_after) > 0);
  await putOnPlan(db, b, { monthly_events_limit: 100 });
  const repeated = await ingest(headers, events);
  assert.deepEqual(repeated.body.tenants, [took(a, 1), took(b, 1)]);
  assert.deepEqual((await recordsOf(db, a.id, 1)).map(({ msg }) => msg), ["first"]);
  assert.deepEqual((await recordsOf(db, b.id, 2)).map(({ msg }) => msg), [null, "second"]);
});

Deno.test("if every tenant is over its limit, the request is 429", async () => {
  const tenants = await twoTenants();
  await using db = openDatabase();
  for (const tenant of tenants) await putOnPlan(db, tenant, { monthly_events_limit: 0 });
  const answer = await ingest(secret, tenants.map(({ id }) => ({ tenant_id: id })));
  assertAnswer(answer, 429, { error: "Monthly event limit reached: 0 events" });
  assert.ok(Number(answer.headers.get("retry-after")) > 0);
});

Deno.test("without a secret key, X-Logloom-Tenant and tenant_id have no effect", async () => {
  const [a, b] = await twoTenants();
  const { key_value } = await createKey(a);
  for (const headers of [apiKey(key_value), a.headers]) {
    const answer = await ingest({ ...headers, "x-logloom-tenant": b.id }, [{ tenant_id: b.id }]);
    assertAnswer(answer, 200, { success: true, ingested: 1, rejected: 0 });
  }
  await using db = openDatabase();
  assert.deepEqual(
    (await recordsOf(db, a.id, 2)).map(({ attrs }) => attrs),
    [{ tenant_id: b.id }, { tenant_id: b.id }],
  );
  assert.deepEqual(await recordsOf(db, b.id, 0), []);
});

Deno.test("a key that a gateway exchanges for a token does not count as a user's token", async () => {
  const [tenant] = await twoTenants();
  const { status, body } = await call("/functions/v1/logloom-read/v1/list_alert_rules", {
    method: "POST",
    headers: bearer("sb_a.b.c"),
    body: JSON.stringify({ p_tenant_id: tenant.id }),
  });
  assert.deepEqual([status, body.hint], [401, "This is neither a Logloom key nor a user's token"]);
});

Deno.test("a secret key must be complete, active and in a header", async () => {
  const [tenant] = await twoTenants();
  const named = { "x-logloom-tenant": tenant.id };
  const expired = await userToken({ role: "service_role", exp: 1_700_000_000 });
  const forged = await userToken(
    { role: "service_role" },
    new TextEncoder().encode("x".repeat(40)),
  );
  for (
    const headers of [
      bearer(secretApiKey.slice(0, -1)),
      bearer(`${secretApiKey}x`),
      apiKey("sb_secret_"),
      bearer(expired),
      bearer(forged),
      bearer(stack.anonKey),
    ]
  ) {
    assert.equal((await ingest({ ...headers, ...named }, [{}])).status, 401);
  }
  const response = await fetch(`${stack.url}/functions/v1/ingest?api_key=${secretApiKey}`, {
    method: "POST",
    headers: named,
    body: "[{}]",
  });
  await response.body?.cancel();
  assert.equal(response.status, 400);
});

Deno.test("a request has events of at most 100 tenants", async () => {
  const [tenant] = await twoTenants();
  const events = [
    { tenant_id: tenant.id },
    ...Array.from({ length: 101 }, (_, n) => ({ tenant_id: `${tenant.id}-${n}` })),
  ];
  const { status, body } = await ingest(secret, events);
  assert.deepEqual(
    [status, body.ingested, body.rejected, (body.tenants as unknown[]).length],
    [200, 1, 101, 100],
  );
  assert.deepEqual(
    (body.errors as { index: number; code: string }[]).map(({ index, code }) => [index, code]),
    [[100, "too_many_tenants"], [101, "too_many_tenants"]],
  );
});
