import assert from "node:assert/strict";
import type { IngestToken } from "../../packages/logloom/src/read.ts";
import {
  type Answer,
  assertAnswer,
  assertRpcError,
  bearer,
  call,
  ingest,
  newTenant,
  rpc,
  type Tenant,
} from "../support/client.ts";
import { openDatabase, recordsOf } from "../support/database.ts";

async function newToken(tenant: Tenant, parameters = {}): Promise<IngestToken> {
  const { status, body } = await rpc<IngestToken>(tenant.token, "create_ingest_token", {
    p_service: "shop",
    ...parameters,
  });
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

/** Sends a body like `navigator.sendBeacon`. */
const beacon = (body: unknown) =>
  call("/functions/v1/ingest", {
    method: "POST",
    headers: { "content-type": "text/plain;charset=UTF-8" },
    body: JSON.stringify(body),
  });

function assertRefused(answer: Answer, why: string): void {
  assertAnswer(answer, 401, { error: "Invalid token, API key, or missing tenant_id" });
  assert.equal(
    answer.headers.get("www-authenticate"),
    `Bearer realm="logloom", error="invalid_token", error_description="${why}"`,
  );
}

Deno.test("a page sends with a token, by header or in a beacon's body, for one service", async () => {
  const tenant = await newTenant();
  const before = Date.now();
  const { token, service, expires_at } = await newToken(tenant);
  assert.match(token, /^llt_[0-9A-Za-z]{36}$/);
  assert.equal(service, "shop");
  const lifetimes = [before, Date.now()].map((made) => (Date.parse(expires_at) - made) / 1000);
  assert.ok(lifetimes[0] > 890 && lifetimes[1] < 910, `${lifetimes}`);

  assertAnswer(
    await ingest(bearer(token), [{ msg: "header", service: "shop" }, { msg: "none" }]),
    200,
    { success: true, ingested: 2, rejected: 0 },
  );
  assertAnswer(
    await beacon({ token, events: [{ msg: "beacon" }, { msg: "api", service: "api" }] }),
    200,
    {
      success: true,
      ingested: 1,
      rejected: 1,
      errors: [{
        index: 1,
        code: "service_is_another",
        message: "The token may only send for the service shop",
      }],
    },
  );
  await using db = openDatabase();
  const records = await recordsOf(db, tenant.id, 3);
  assert.deepEqual(
    records.map(({ msg, service, attrs }) => [msg, service, attrs]).toSorted(),
    [["beacon", "shop", null], ["header", "shop", null], ["none", "shop", null]],
  );
});

Deno.test("other receivers also accept the token", async () => {
  const tenant = await newTenant();
  const { token } = await newToken(tenant);
  const { status } = await call("/functions/v1/ingest/lines", {
    method: "POST",
    headers: { ...bearer(token), "content-type": "text/plain" },
    body: "one\ntwo",
  });
  assert.equal(status, 200);
  await using db = openDatabase();
  assert.deepEqual(
    (await recordsOf(db, tenant.id, 2)).map(({ service }) => service),
    ["shop", "shop"],
  );
});

Deno.test("a token in an address is refused", async () => {
  const { token } = await newToken(await newTenant());
  const answer = await call(`/functions/v1/ingest?token=${token}`, {
    method: "POST",
    headers: { "content-type": "text/plain" },
    body: "[{}]",
  });
  assertAnswer(answer, 400, { error: "Missing authorization header" });
  assert.match(answer.headers.get("www-authenticate") ?? "", /not taken from an address/);
});

Deno.test("an expired token is refused, and says so", async () => {
  const tenant = await newTenant();
  const { token } = await newToken(tenant);
  assert.equal((await ingest(bearer(token), [{}])).status, 200);
  await using db = openDatabase();
  await db`update logloom_private.ingest_tokens set expires_at = now() where tenant_id = ${tenant.id}`;
  assertRefused(
    await ingest(bearer(token), [{}]),
    "The ingest token has expired: create_ingest_token makes another.",
  );
});

Deno.test("the plan limits how many tokens a tenant creates in a minute, also in concurrent calls", async () => {
  const tenant = await newTenant();
  await newToken(tenant);
  await using db = openDatabase();
  const answers = await Promise.all(
    Array.from({ length: 30 }, () => rpc(tenant.token, "create_ingest_token", { p_service: "s" })),
  );
  const refused = answers.filter(({ status }) => status !== 200);
  for (const answer of refused) {
    assertRpcError(answer, 429, "Plan limit exceeded: ingest tokens (max 20 per minute)");
    const after = Number(answer.headers.get("retry-after"));
    assert.ok(after >= 1 && after <= 60, `${after}`);
  }
  const [{ count }] = await db`
    select count(*)::integer from logloom_private.ingest_tokens where tenant_id = ${tenant.id}`;
  assert.deepEqual([refused.length, count], [11, 20]);
});
