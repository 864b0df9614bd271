import assert from "node:assert/strict";
import {
  apiKey,
  bearer,
  call,
  createKey,
  ingest,
  newTenant,
  rpc,
  type Tenant,
} from "../support/client.ts";
import { openDatabase, recordsOf } from "../support/database.ts";
import { operations } from "../../supabase/functions/logloom-read/operations.ts";
import { stack } from "../support/stack.ts";
import { userToken } from "../support/tokens.ts";

Deno.test("tenants that send the same at once have their own records and no others", async () => {
  const tenants = await Promise.all(["a", "b", "c"].map(newTenant));
  const keys = await Promise.all(tenants.map((tenant) => createKey(tenant)));
  const requests = tenants.flatMap((tenant, index) =>
    Array.from({ length: 10 }, (_, request) => {
      const headers = request % 2 === 0 ? apiKey(keys[index].key_value) : tenant.headers;
      // What an event says of its tenant counts for nothing.
      const events = [{ msg: tenant.id, tenant_id: tenants[(index + 1) % 3].id }];
      return ingest({ ...headers, "idempotency-key": `request-${request}` }, events);
    })
  );
  for (const { status } of await Promise.all(requests)) assert.equal(status, 200);

  await using db = openDatabase();
  for (const [index, tenant] of tenants.entries()) {
    const records = await recordsOf(db, tenant.id, 10);
    assert.equal(records.length, 10);
    assert.ok(records.every(({ msg }) => msg === tenant.id));
    assert.ok(records.every(({ attrs }) => attrs?.tenant_id === tenants[(index + 1) % 3].id));
  }
});

Deno.test("the tables show a tenant its own rows alone", {
  // Nodes let in the service's owner alone: an operation reads as that, nobody reads the tables.
  ignore: Deno.env.has("LOGLOOM_IS_SHARDED"),
}, async () => {
  const [mine, other] = await Promise.all([newTenant("mine"), newTenant("other")]);
  for (const tenant of [mine, other]) {
    await createKey(tenant);
    await ingest(tenant.headers, [{ msg: tenant.id }]);
  }
  // The owner of the database may act as the API roles, as PostgREST does for a request.
  await using db = openDatabase(stack.databaseUrl, 1);
  await using admin = openDatabase();
  for (const tenant of [mine, other]) await recordsOf(admin, tenant.id, 1);

  const seenBy = (tenant: Tenant, table: string) =>
    db.begin(async (sql) => {
      const claims = JSON.stringify({
        role: "authenticated",
        tenant_id: tenant.id,
        exp: Math.floor(Date.now() / 1000) + 60,
      });
      await sql`select set_config('request.jwt.claims', ${claims}, true)`;
      await sql`set local role authenticated`;
      const rows = await sql`select distinct tenant_id from ${sql(table)}`;
      return rows.map(({ tenant_id }) => tenant_id);
    });
  for (const table of ["logloom.logs", "logloom.api_keys", "logloom.tenants"]) {
    assert.deepEqual(await seenBy(mine, table), [mine.id], table);
    assert.deepEqual(await seenBy(other, table), [other.id], table);
  }
});

Deno.test("another tenant's key is neither listed nor revoked nor told of", async () => {
  const [mine, other] = await Promise.all([newTenant("mine"), newTenant("other")]);
  const { key_id, key_value } = await createKey(other);
  assert.deepEqual((await rpc(mine.token, "list_api_keys")).body, []);
  for (const operation of ["revoke_api_key", "get_api_key_usage"]) {
    assert.equal((await rpc(mine.token, operation, { p_key_id: key_id })).status, 404);
  }
  assert.equal((await ingest(apiKey(key_value), [])).status, 200);
});

Deno.test("no door shows what is another tenant's", async () => {
  const [mine, other] = await Promise.all([newTenant("mine"), newTenant("other")]);
  const marker = `secret-of-${crypto.randomUUID()}`;
  await ingest(mine.headers, [{ msg: "mine" }]);
  await ingest(other.headers, [{ msg: marker, service: marker, card: marker }]);
  await using db = openDatabase();
  await recordsOf(db, mine.id, 1);
  const [{ id, ts }] = await recordsOf(db, other.id, 1);
  await rpc(other.token, "create_saved_search", {
    p_name: marker,
    p_query_dsl: "level:error",
    p_is_shared: true,
  });
  const { body: theirs } = await rpc<{ view_id: string }>(other.token, "create_log_view", {
    p_name: marker,
  });

  const { body: view } = await rpc<{ view_id: string }>(mine.token, "create_log_view", {
    p_name: "all",
    p_operations: operations,
  });
  const viewerId = crypto.randomUUID();
  const viewer = { p_user_id: viewerId, p_role: "viewer", p_view_id: view.view_id };
  assert.equal((await rpc(mine.token, "add_tenant_member", viewer)).status, 200);
  const key = await createKey(mine, { p_scopes: ["read"] });
  const keyInView = await createKey(mine, { p_scopes: ["read"], p_view_id: view.view_id });
  const session = await rpc<{ token: string }>(mine.token, "create_log_portal_session", {
    p_view_id: view.view_id,
  });
  const claims = { tenant_id: mine.id, sub: mine.userId };
  const doors: [string, Record<string, string>][] = [
    ["user", mine.headers],
    ["key", apiKey(key.key_value)],
    ["key in a view", apiKey(keyInView.key_value)],
    ["client", bearer(await userToken({ ...claims, client_id: crypto.randomUUID() }))],
    ["viewer", bearer(await userToken({ ...claims, sub: viewerId }))],
    ["session", bearer(session.body.token)],
  ];
  for (const [door, headers] of doors) {
    for (const operation of operations) {
      const { status, body } = await call(`/functions/v1/logloom-read/v1/${operation}`, {
        method: "POST",
        headers,
        body: JSON.stringify(asked(operation, { id, ts })),
      });
      assert.equal(status, operation.startsWith("get_log") ? 404 : 200, `${operation} by ${door}`);
      assert.ok(!JSON.stringify(body).includes(marker), `${operation} by ${door}`);
    }
    for (const operation of ["list_alert_rules", "list_alert_history"]) {
      const { status } = await call(`/functions/v1/logloom-read/v1/${operation}`, {
        method: "POST",
        headers,
        body: JSON.stringify({ p_tenant_id: other.id }),
      });
      assert.equal(status, 403, `${operation} of another tenant by ${door}`);
    }
  }
  for (
    const [operation, parameters] of [
      ["create_api_key", { p_name: "k", p_scopes: ["read"] }],
      ["create_log_portal_session", {}],
      ["add_tenant_member", { p_user_id: crypto.randomUUID(), p_role: "viewer" }],
      ["update_log_view", { p_name: "mine" }],
      ["delete_log_view", {}],
    ] as const
  ) {
    const asked = { ...parameters, p_view_id: theirs.view_id };
    assert.equal((await rpc(mine.token, operation, asked)).status, 404, operation);
  }
});

/** What shows the most by an operation. */
function asked(operation: string, { id, ts }: { id: unknown; ts: unknown }) {
  const range = { p_ts_from: "now-1h", p_ts_to: "now+1h" };
  switch (operation) {
    case "get_log":
    case "get_log_context":
      return { p_id: id, p_ts: ts };
    case "log_stats":
      return { ...range, p_query_dsl: "| count() by service" };
    case "tail_logs":
      return { p_backlog: 100 };
    case "validate_query":
      return { p_query_dsl: "level:error" };
    default:
      return /^list_(?!log_)/.test(operation) ? {} : range;
  }
}

Deno.test("tenants whose ids look alike are different tenants", async () => {
  const id = crypto.randomUUID();
  const ids = [
    `a${id}`,
    `A${id}`,
    ` a${id}`,
    `a${id} `,
    `\u00e9${id}`,
    `e\u0301${id}`,
    `%${id}`,
    `_${id}`,
    `'; --${id}`,
    `{"a":1}${id}`,
    `\u{1f600}${id}`,
    `${id}${"x".repeat(255 - id.length)}`,
  ];
  await using db = openDatabase();
  for (const tenant_id of ids) {
    const token = await userToken({ tenant_id });
    assert.deepEqual((await rpc(token, "list_api_keys")).body, [], tenant_id);
    const { status, body } = await rpc(token, "create_api_key", { p_name: "key" });
    assert.deepEqual([status, body.tenant_id], [200, tenant_id]);
    assert.equal((await ingest(bearer(token), [{ msg: tenant_id }])).status, 200);
  }
  for (const tenant_id of ids) {
    const records = await recordsOf(db, tenant_id, 1);
    assert.deepEqual(records.map(({ msg }) => msg), [tenant_id]);
  }
});
