import assert from "node:assert/strict";
import type { ApiKey } from "../../packages/logloom/src/read.ts";
import {
  assertAnswer,
  assertRpcError,
  call,
  createKey,
  newTenant,
  rpc,
  supabase,
} from "../support/client.ts";
import { openDatabase } from "../support/database.ts";
import { stack } from "../support/stack.ts";
import { unsignedToken, userToken } from "../support/tokens.ts";

const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?\+00:00$/;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const nobody = "00000000-0000-4000-8000-000000000000";
const operations = ["list_api_keys", "create_api_key", "revoke_api_key", "get_api_key_usage"];

Deno.test("a key's value is shown once, when it is created", async () => {
  const tenant = await newTenant();
  const client = supabase(tenant.token);
  const before = Date.now();
  const { data: created, error } = await client.rpc("create_api_key", {
    p_tenant_id: tenant.id,
    p_name: "  web server  ",
  });
  assert.equal(error, null);
  const { key_id, key_value, key_prefix, created_at, ...rest } = created;
  assert.deepEqual(rest, {
    tenant_id: tenant.id,
    name: "web server",
    scopes: ["ingest"],
    status: "active",
    expires_at: null,
    view_id: null,
  });
  assert.match(key_id, uuid);
  assert.match(key_value, /^ll_[0-9A-Za-z]{36}$/);
  assert.equal(key_prefix, key_value.slice(0, 11));
  assert.match(created_at, timestamp);
  assert.ok(Date.parse(created_at) >= before - 1 && Date.parse(created_at) <= Date.now() + 1);

  const { data: listed } = await client.rpc("list_api_keys");
  assert.deepEqual(listed, [{
    key_id,
    tenant_id: tenant.id,
    name: "web server",
    key_prefix,
    scopes: ["ingest"],
    status: "active",
    created_at,
    last_used_at: null,
    expires_at: null,
    view_id: null,
    revoked_at: null,
  }]);

  await using db = openDatabase();
  const [{ stored }] = await db`
    select to_jsonb(k)::text as stored from logloom.api_keys k where k.key_id = ${key_id}`;
  assert.ok(!stored.includes(key_value.slice(11)), "the key itself is nowhere");
});

Deno.test("a tenant without keys has an empty list, and reading does not provision it", async () => {
  const tenant = await newTenant();
  assertAnswer(await rpc(tenant.token, "list_api_keys"), 200, []);
  await using db = openDatabase();
  const tenants = () => db`select plan_id from logloom.tenants where tenant_id = ${tenant.id}`;
  assert.equal((await tenants()).length, 0);
  await createKey(tenant);
  assert.deepEqual([...await tenants()], [{ plan_id: "free" }]);
});

Deno.test("p_tenant_id may be left out, null or the token's; another is 403", async () => {
  const tenant = await newTenant();
  for (const parameters of [{}, { p_tenant_id: null }, { p_tenant_id: tenant.id }]) {
    assertAnswer(await rpc(tenant.token, "list_api_keys", parameters), 200, []);
  }
  for (const operation of operations) {
    for (const p_tenant_id of [`${tenant.id}x`, "", "demo"]) {
      assertRpcError(
        await rpc(tenant.token, operation, {
          p_tenant_id,
          ...(operation === "create_api_key" && { p_name: "key" }),
          ...(/^(revoke|get)/.test(operation) && { p_key_id: nobody }),
        }),
        403,
        "p_tenant_id is not the tenant of the token",
      );
    }
  }
});

Deno.test("service_role acts only for the tenant that it names", async () => {
  const p_tenant_id = (await newTenant()).id;
  const service = stack.serviceRoleKey;
  const created = await rpc<ApiKey>(service, "create_api_key", { p_tenant_id, p_name: "service" });
  assert.equal(created.status, 200);
  const listed = await rpc<ApiKey[]>(service, "list_api_keys", { p_tenant_id });
  assert.deepEqual(listed.body.map(({ key_id }) => key_id), [created.body.key_id]);
  for (const operation of operations) {
    assertRpcError(
      await rpc(service, operation, operation === "create_api_key" ? { p_name: "key" } : {}),
      400,
      "Missing required parameter: p_tenant_id",
    );
  }
  assertRpcError(
    await rpc(service, "list_api_keys", { p_tenant_id: " " }),
    400,
    "Invalid p_tenant_id: 1 to 255 characters, not all blank",
  );
});

Deno.test("a token that PostgREST cannot verify is 401", async () => {
  const tenant_id = "somebody";
  const now = Math.floor(Date.now() / 1000);
  const { key_value } = await createKey(await newTenant());
  const secret = new TextEncoder().encode("another-secret-that-is-at-least-32-bytes-long");
  const tokens = [
    key_value,
    "nonsense",
    unsignedToken({ role: "authenticated", tenant_id, exp: now + 60 }),
    await userToken({ tenant_id, exp: now - 60 }),
    await userToken({ tenant_id }, secret),
  ];
  for (const token of tokens) assert.equal((await rpc(token, "list_api_keys")).status, 401, token);
});

Deno.test("operations are POST, with a known name and parameters", async () => {
  const tenant = await newTenant();
  for (const method of ["GET", "HEAD", "PUT", "PATCH", "DELETE"]) {
    const body = /GET|HEAD/.test(method) ? undefined : "{}";
    const { status } = await rpc(tenant.token, "list_api_keys", {}, { method, body });
    assert.equal(status, 405, method);
  }
  assert.equal((await rpc(tenant.token, "list_everything")).status, 404);
  assert.equal((await rpc(tenant.token, "list_api_keys", { p_unknown: 1 })).status, 404);
  assert.equal((await rpc(tenant.token, "list_api_keys", {}, { body: "{" })).status, 400);
  assert.equal((await rpc(tenant.token, "list_api_keys", { p_limit: "many" })).status, 400);
});

Deno.test("a user can call neither tables nor the operations of edge functions", async () => {
  const tenant = await newTenant();
  const headers = { apikey: stack.anonKey, ...tenant.headers };
  for (const table of ["logs", "api_keys", "tenants", "plans", "queue", "settings", "job"]) {
    for (const init of [{}, { headers: { "accept-profile": "logloom" } }]) {
      const answer = await call(`/rest/v1/${table}`, {
        headers: { ...headers, ...(init.headers ?? {}) },
      });
      assert.ok([404, 406].includes(answer.status), `${table}: ${answer.status}`);
    }
  }
  for (const operation of ["ingest_text", "health_report"]) {
    assert.equal((await rpc(tenant.token, operation)).status, 403, operation);
    assert.equal((await rpc(stack.anonKey, operation)).status, 401, operation);
  }
  for (const operation of ["health_report", "write_logs", "replay_dead_letters", "ingest"]) {
    const answer = await rpc(tenant.token, operation, {}, {
      headers: {
        ...headers,
        "content-type": "application/json",
        "content-profile": "logloom_private",
      },
    });
    assert.equal(answer.status, 406, operation);
  }
});
