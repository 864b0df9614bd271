import assert from "node:assert/strict";
import { apiKey, bearer, call, clientOf, ingest, newTenant, rpc } from "../support/client.ts";
import { openDatabase, recordsOf } from "../support/database.ts";
import { userToken } from "../support/tokens.ts";

// A key and a viewer read in a view: they get its records and nothing else, by every protocol.

interface Read {
  message: string;
  logs: { msg: string | null; user_id: string | null; attrs: unknown }[];
}

function read(headers: Record<string, string>, operation: string, parameters: unknown = {}) {
  return call<Read>(`/functions/v1/logloom-read/v1/${operation}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(parameters),
  });
}

async function inView(name: string) {
  const tenant = await newTenant(name);
  await ingest(tenant.headers, [
    { msg: "one", env: "prod", level: "error", user_id: "ann", card: { number: 4242, brand: "v" } },
    { msg: "two", env: "prod", level: "info", user_id: "bob", "card.number": 4243 },
    { msg: "three", env: "test", level: "error", user_id: "ann" },
  ]);
  await using db = openDatabase();
  await recordsOf(db, tenant.id, 3);
  const client = clientOf(tenant.token);
  const { view_id } = await client.call("create_log_view", {
    p_name: "production",
    p_query_dsl: "env:prod",
    p_hidden_fields: ["user_id", "@card.number"],
  });
  const { key_value } = await client.call("create_api_key", {
    p_name: "dashboard",
    p_scopes: ["read"],
    p_view_id: view_id,
  });
  return { tenant, client, view_id, headers: apiKey(key_value) };
}

Deno.test("a key in a view finds only the view's records, without hidden fields", async () => {
  const { headers } = await inView("view");
  const { body } = await read(headers, "search_logs", { p_order: "asc" });
  assert.deepEqual(
    body.logs.map(({ msg, user_id, attrs }) => ({ msg, user_id, attrs })).toSorted((a, b) =>
      String(a.msg) < String(b.msg) ? -1 : 1
    ),
    [
      { msg: "one", user_id: null, attrs: { card: { brand: "v" } } },
      { msg: "two", user_id: null, attrs: null },
    ],
  );
  const named = await read(headers, "search_logs", { p_query_dsl: "user_id:ann" });
  assert.deepEqual(
    [named.status, named.body.message],
    [400, 'The field "user_id" is hidden from you'],
  );
  const anywhere = await read(headers, "search_logs", { p_query_dsl: "any:ann OR any:4242" });
  assert.deepEqual(anywhere.body.logs, []);
  const counted = await read(headers, "log_stats", { p_query_dsl: "| count() by level" });
  assert.deepEqual(
    (counted.body as unknown as { group: unknown; value: number }[])
      .map(({ group, value }) => [group, value]),
    [[{ level: "error" }, 1], [{ level: "info" }, 1]],
  );
  const fields = await read(headers, "list_log_fields");
  assert.deepEqual(
    (fields.body as unknown as { field: string }[]).map(({ field }) => field).sort(),
    ["attrs.card.brand", "env", "id", "level", "msg", "received_at", "ts"],
  );
  const tail = await read(headers, "tail_logs", { p_backlog: 10 });
  assert.deepEqual(tail.body.logs.map(({ user_id }) => user_id), [null, null]);
});

Deno.test("Grafana with a view's key sees only the view's records", async () => {
  const { headers } = await inView("view-loki");
  const loki = (path: string) =>
    call<
      { data: { result: { stream: unknown; values: [string, string][] }[] } & string[] }
    >(`/functions/v1/logloom-read/loki/api/v1/${path}`, { headers });
  const found = await loki(`query_range?query=${encodeURIComponent('{env=~".+"}')}`);
  assert.equal(found.status, 200);
  assert.deepEqual(
    found.body.data.result
      .map(({ stream, values }) => [values.map(([, line]) => line), stream])
      .toSorted(([a], [b]) => String(a) < String(b) ? -1 : 1),
    [
      [["one"], { card_brand: "v", detected_level: "error", env: "prod", level: "error" }],
      [["two"], { detected_level: "info", env: "prod", level: "info" }],
    ],
  );
  const values = await loki("label/env/values");
  assert.deepEqual(values.body.data, ["prod"]);
});

Deno.test("a viewer reads in the view by every protocol, and can do nothing else", async () => {
  const { tenant, client, view_id } = await inView("viewer");
  const id = crypto.randomUUID();
  await client.call("add_tenant_member", { p_user_id: id, p_role: "viewer", p_view_id: view_id });
  const token = await userToken({ tenant_id: tenant.id, sub: id });
  const byRpc = await rpc<Read>(token, "search_logs");
  const byFunction = await read(bearer(token), "search_logs");
  assert.equal(byRpc.body.logs.length, 2);
  assert.deepEqual(byRpc.body.logs, byFunction.body.logs);
  for (
    const [operation, parameters] of [
      ["create_api_key", { p_name: "mine" }],
      ["create_saved_search", { p_name: "mine", p_query_dsl: "ts:*" }],
      ["list_api_keys", {}],
      ["create_ingest_token", { p_service: "page" }],
      ["create_log_portal_session", {}],
    ] as const
  ) {
    const refused = await rpc<{ message: string }>(token, operation, parameters);
    assert.deepEqual(
      [refused.status, refused.body.message],
      [403, "A viewer may only read"],
      operation,
    );
  }
  assert.equal((await ingest(bearer(token), [{ msg: "x" }])).status, 403);

  const inUse = await rpc<{ message: string }>(tenant.token, "delete_log_view", {
    p_view_id: view_id,
  });
  assert.deepEqual(
    [inUse.status, inUse.body.message],
    [409, `The view is in use: API key dashboard, member ${id}`],
  );
});

Deno.test("a view changes during a round of alerts, but not while its rules are judged", async () => {
  const { token } = await newTenant("view-round");
  const client = clientOf(token);
  const { view_id } = await client.call("create_log_view", { p_name: "v", p_query_dsl: "env:a" });
  const { rule_id } = await client.call("create_alert_rule", {
    p_name: "r",
    p_query_dsl: "*",
    p_threshold: 1e9,
    p_comparison: "gt",
    p_window_minutes: 5,
    p_cooldown_minutes: 0,
    p_enabled: true,
    p_view_id: view_id,
  });
  await using db = openDatabase();
  const change = (query: string) =>
    rpc(token, "update_log_view", { p_view_id: view_id, p_query_dsl: query });
  await db.begin(async (round) => {
    await round`select pg_advisory_xact_lock(logloom_private.lock_key('alerts'))`;
    assert.equal((await change("env:b")).status, 200);
    await round`select from logloom.alert_rules where rule_id = ${rule_id} for update`;
    const refused = await change("env:c");
    assert.deepEqual([refused.status, refused.headers.get("retry-after")], [429, "5"]);
  });
  assert.equal((await change("env:c")).status, 200);
});
