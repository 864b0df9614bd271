import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import {
  apiKey,
  assertAnswer,
  bearer,
  clientOf,
  createKey,
  ingest,
  newTenant,
  rpc,
} from "../support/client.ts";
import { openDatabase, recordsOf } from "../support/database.ts";
import { stack } from "../support/stack.ts";
import { cliToken, unsignedToken, userToken } from "../support/tokens.ts";

const accepted = { success: true, ingested: 1, rejected: 0 };
const refused = { error: "Invalid token, API key, or missing tenant_id" };
const event = { msg: "hello" };
const now = () => Math.floor(Date.now() / 1000);

Deno.test("a request without credentials is 400", async () => {
  const missing = { error: "Missing authorization header" };
  assertAnswer(await ingest({}, event), 400, missing);
  assertAnswer(await ingest({ authorization: "" }, event), 400, missing);
  assertAnswer(await ingest({ apikey: stack.anonKey }, event), 400, missing);
});

Deno.test("an API key is accepted in X-API-Key and as a bearer value", async () => {
  const tenant = await newTenant();
  const { key_value } = await createKey(tenant);
  assertAnswer(await ingest(apiKey(key_value), event), 200, accepted);
  assertAnswer(await ingest(bearer(key_value), event), 200, accepted);
  assertAnswer(await ingest({ authorization: `bearer ${key_value}` }, event), 200, accepted);
  await using db = openDatabase();
  await recordsOf(db, tenant.id, 3);
});

Deno.test("X-API-Key wins over Authorization", async () => {
  const tenant = await newTenant();
  const other = await newTenant();
  const { key_value } = await createKey(tenant);
  assertAnswer(await ingest({ ...apiKey(key_value), ...bearer("nonsense") }, event), 200, accepted);
  assertAnswer(await ingest({ ...apiKey(key_value), ...other.headers }, event), 200, accepted);
  assertAnswer(await ingest({ ...apiKey("ll_wrong"), ...tenant.headers }, event), 401, refused);
  await using db = openDatabase();
  await recordsOf(db, tenant.id, 2);
  const [{ count }] = await db`select count(*) from logloom.tenants where tenant_id = ${other.id}`;
  assert.equal(Number(count), 0);
});

Deno.test("a revoked key is refused on the very next request", async () => {
  const tenant = await newTenant();
  const { key_id, key_value } = await createKey(tenant);
  assertAnswer(await ingest(apiKey(key_value), event), 200, accepted);
  await clientOf(tenant.token).call("revoke_api_key", { p_key_id: key_id });
  assertAnswer(await ingest(apiKey(key_value), event), 401, refused);
  assertAnswer(await ingest(bearer(key_value), event), 401, refused);
});

Deno.test("tokens of the shared secret (HS256) and of the CLI's key (ES256) are accepted", async () => {
  const tenant = await newTenant();
  assertAnswer(await ingest(tenant.headers, event), 200, accepted);
  const signedByCli = await cliToken({ tenant_id: tenant.id });
  assertAnswer(await ingest(bearer(signedByCli), event), 200, accepted);
  const listed = await rpc(signedByCli, "list_api_keys");
  assertAnswer(listed, 200, []);
  await using db = openDatabase();
  await recordsOf(db, tenant.id, 2);
});

Deno.test("a token with any faulty part is refused", async () => {
  const tenant_id = "somebody";
  const valid = await userToken({ tenant_id });
  const [header, claims, signature] = valid.split(".");
  const forged = Buffer.from(JSON.stringify({ tenant_id: "other" })).toString("base64url");
  const otherSecret = new TextEncoder().encode("another-secret-that-is-at-least-32-bytes-long");
  const publicKey = await (await fetch(`${stack.url}/auth/v1/.well-known/jwks.json`)).text();
  const wrong: Record<string, string> = {
    "alg none": unsignedToken({ role: "authenticated", tenant_id, exp: now() + 60 }),
    "signature cut off": `${header}.${claims}.`,
    "signature of other claims": `${header}.${forged}.${signature}`,
    "another secret": await userToken({ tenant_id }, otherSecret),
    "public key as secret": await userToken({ tenant_id }, new TextEncoder().encode(publicKey)),
    "expired": await userToken({ tenant_id, exp: now() - 10 }),
    "anon": stack.anonKey,
    "no token at all": "nonsense",
  };
  for (const [what, token] of Object.entries(wrong)) {
    const answer = await ingest(bearer(token), event);
    assert.deepEqual([what, answer.status, answer.body], [what, 401, refused]);
  }
  for (const authorization of ["Bearer", "Bearer ", `Basic ${btoa("a:b")}`, valid]) {
    assertAnswer(await ingest({ authorization }, event), 401, refused);
  }
  assertAnswer(await ingest(bearer(valid), []), 200, { ...accepted, ingested: 0 });
  const justExpired = await userToken({ tenant_id, exp: now() - 2 });
  assertAnswer(await ingest(bearer(justExpired), []), 200, { ...accepted, ingested: 0 });
});
