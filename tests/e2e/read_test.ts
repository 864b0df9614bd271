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
import { eventually } from "../support/eventually.ts";
import { stackState } from "../support/processes.ts";
import { stack } from "../support/stack.ts";

const unknownCaller = "Invalid token, API key, or missing tenant_id";

function read(
  headers: Record<string, string>,
  operation: string,
  parameters: unknown = {},
  init: RequestInit = {},
) {
  return call<Record<string, unknown>>(`/functions/v1/logloom-read/v1/${operation}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(parameters),
    ...init,
  });
}

/** Returns the name of an error, for programs. */
const nameOf = ({ details }: Record<string, unknown>) => JSON.parse(String(details))?.name;

async function withRecords(name: string): Promise<Tenant> {
  const tenant = await newTenant(name);
  await ingest(tenant.headers, [
    { ts: new Date(Date.now() - 3000).toISOString(), msg: "one", level: "error", service: "api" },
    { ts: new Date(Date.now() - 2000).toISOString(), msg: "two", level: "info", price: 1e21 },
    { ts: new Date(Date.now() - 1000).toISOString(), msg: "three 💡", service: "api", n: [1, "x"] },
  ]);
  await using db = openDatabase();
  await recordsOf(db, tenant.id, 3);
  return tenant;
}

Deno.test("a key that reads gets byte for byte what its tenant's user gets by RPC", async () => {
  const tenant = await withRecords("read");
  const { key_value } = await createKey(tenant, { p_scopes: ["read"] });
  const now = new Date().toISOString();
  const { body } = await rpc<{ logs: { id: string; ts: string }[] }>(tenant.token, "search_logs", {
    p_ts_to: now,
  });
  assert.equal(body.logs.length, 3);
  const [{ id, ts }] = body.logs;
  const asked: [string, Record<string, unknown>][] = [
    ["search_logs", {
      p_query_dsl: "service:api",
      p_ts_from: new Date(Date.now() - 3_600_000).toISOString(),
      p_ts_to: now,
      p_limit: 1,
    }],
    ["search_logs", { p_ts_to: now, p_order: "asc", p_cursor: null }],
    ["get_log", { p_id: id }],
    ["get_log", { p_id: id, p_ts: ts }],
    ["get_log_context", { p_id: id, p_before: 1, p_after: 1 }],
    ["list_log_fields", { p_ts_to: now }],
    ["log_stats", { p_query_dsl: "| count() by service", p_ts_to: now }],
    ["log_stats", { p_query_dsl: "service:none | count() by host", p_ts_to: now }],
    ["log_series", { p_ts_to: now, p_buckets: 3 }],
    ["log_histogram", { p_ts_to: now, p_buckets: 3 }],
    ["tail_logs", { p_backlog: 10 }],
    ["validate_query", { p_query_dsl: "level:>" }],
  ];
  for (const [operation, parameters] of asked) {
    const init = { method: "POST", body: JSON.stringify(parameters) };
    const headers = { "content-type": "application/json" };
    const byKey = await fetch(`${stack.url}/functions/v1/logloom-read/v1/${operation}`, {
      ...init,
      headers: { ...headers, ...apiKey(key_value) },
    });
    const byRpc = await fetch(`${stack.url}/rest/v1/rpc/${operation}`, {
      ...init,
      headers: { ...headers, ...tenant.headers, apikey: stack.anonKey },
    });
    const byUser = await fetch(`${stack.url}/functions/v1/logloom-read/v1/${operation}`, {
      ...init,
      headers: { ...headers, ...tenant.headers },
    });
    const texts = [await byKey.text(), await byRpc.text(), await byUser.text()];
    assert.equal(byKey.status, 200, `${operation}: ${texts[0]}`);
    assert.equal(byUser.headers.get("content-type"), "application/json");
    // Cursors differ in each answer.
    const [one, ...others] = texts.map((text) =>
      text.replace(/"next_cursor":"[^"]*"/, '"next_cursor":"…"')
    );
    for (const other of others) assert.equal(one, other, operation);
  }
});

Deno.test("a key is accepted in all headers of ingest, and never in an address", async () => {
  const tenant = await withRecords("read-doors");
  const { key_value } = await createKey(tenant, { p_scopes: ["read", "ingest"] });
  const doors = [
    apiKey(key_value),
    bearer(key_value),
    { authorization: `Basic ${btoa(`logloom:${key_value}`)}` },
  ];
  for (const headers of doors) {
    const { status, body } = await read(headers, "search_logs");
    assert.deepEqual([status, (body.logs as unknown[]).length], [200, 3]);
  }
  assert.equal((await ingest(apiKey(key_value), [])).status, 200);
  // A key in an address is refused even if a header has it too, because proxies log addresses.
  for (const headers of [{}, apiKey(key_value)]) {
    for (const query of [`api_key=${key_value}`, `token=${key_value}`, `${key_value}=1`]) {
      const { status, body } = await read(headers, `search_logs?${query}`);
      assert.deepEqual([status, body.message], [401, unknownCaller]);
      assert.match(String(body.hint), /^Keys in an address are refused/);
      assert.ok(!JSON.stringify(body).includes(key_value.slice(12)));
    }
  }
  const inPath = await call(`/functions/v1/logloom-read/loki/api/v1/label/${key_value}/values`, {
    headers: apiKey(key_value),
  });
  assert.equal(inPath.status, 401);
  await call(`/functions/v1/logloom-read/${key_value}`, { headers: apiKey(key_value) });
  const { logs: folder, accessLog } = await stackState();
  await eventually(
    "the requests are in the access log",
    async () => (await Deno.readTextFile(accessLog)).includes("/logloom-read/loki/api/v1/label/"),
  );
  assert.ok(!(await Deno.readTextFile(accessLog)).includes(key_value.slice(12)));
  for await (const { name } of Deno.readDir(folder)) {
    assert.ok(!(await Deno.readTextFile(`${folder}/${name}`)).includes(key_value.slice(12)), name);
  }
});

Deno.test("a key without the needed scope is 403, and a revoked or unknown one 401", async () => {
  const tenant = await newTenant("read-scopes");
  const sends = await createKey(tenant);
  const reads = await createKey(tenant, { p_scopes: ["read"] });
  const asked = await read(apiKey(sends.key_value), "search_logs");
  assert.deepEqual([asked.status, asked.body.message], [403, "This API key may only send"]);
  const sent = await ingest(apiKey(reads.key_value), [{ msg: "x" }]);
  assert.deepEqual([sent.status, sent.body], [403, { error: "This API key may only read" }]);

  await rpc(tenant.token, "revoke_api_key", { p_key_id: reads.key_id });
  const keys = [
    reads.key_value,
    `${reads.key_value.slice(0, -1)}${reads.key_value.endsWith("0") ? "1" : "0"}`,
    "ll_",
    "sb_secret_x",
    "a.b.c",
    "",
  ];
  for (const key of keys) {
    const { status, headers } = await read(bearer(key), "search_logs");
    assert.equal(status, 401, key);
    assert.match(headers.get("www-authenticate") ?? "", /^Bearer realm="logloom"/);
  }
  for (const headers of [{}, bearer("ll_x")]) {
    const { status, body } = await read(headers, "search_logs");
    assert.deepEqual([status, body.code, body.message], [401, "PT401", unknownCaller]);
    assert.equal(nameOf(body), "callers.not_known");
  }
});

Deno.test("a request with an API key gets errors in the form of an RPC", async () => {
  const tenant = await newTenant("read-errors");
  const { key_value } = await createKey(tenant, { p_scopes: ["read"] });
  const named: [string, unknown, string][] = [
    ["search_logs", { limit: 1 }, "reading.parameter_is_unknown"],
    ["search_logs", { p_query_dsl: { a: 1 } }, "reading.parameter_is_invalid"],
    ["search_logs", [], "reading.parameters_are_no_object"],
    ["delete_logs", {}, "reading.operation_is_unknown"],
    ["export", { limit: "1" }, "reading.parameter_is_unknown"],
    ["export", { format: "json" }, "search.format_is_unknown"],
  ];
  for (const [operation, parameters, name] of named) {
    const { body } = await read(apiKey(key_value), operation, parameters);
    assert.equal(nameOf(body), name, operation);
  }
  const cases: [string, unknown, number, string][] = [
    ["search_logs", { p_limit: 0 }, 400, "Invalid p_limit: 1 to 1000"],
    ["search_logs", { p_limit: "many" }, 400, "Invalid p_limit: not of the type integer"],
    ["search_logs", { limit: 1 }, 400, "Unknown parameter: limit"],
    ["get_log", { p_id: "x" }, 400, "Invalid p_id: not of the type uuid"],
    [
      "get_log",
      { p_ts: "2026-13-01" },
      400,
      "Invalid p_ts: not of the type timestamp with time zone",
    ],
    ["get_log", { p_id: crypto.randomUUID() }, 404, "Log record not found"],
    ["delete_logs", {}, 404, "No such reading operation: delete_logs"],
    ["create_api_key", { p_name: "x" }, 404, "No such reading operation: create_api_key"],
    ["read_logs", {}, 404, "No such reading operation: read_logs"],
    ["search_logs", [], 400, "Invalid parameters: send a JSON object"],
  ];
  for (const [operation, parameters, status, message] of cases) {
    const answer = await read(apiKey(key_value), operation, parameters);
    assert.deepEqual(
      [answer.status, answer.body.code, answer.body.message],
      [status, `PT${status}`, message],
    );
  }
  const bodies: [BodyInit, number][] = [
    ["{", 400],
    ["\ufeff{}", 200],
    [new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]), 400],
    ['{"p_query_dsl": "\\u0000"}', 400],
    ['{"p_query_dsl": "\\ud800"}', 400],
    [`{"p_query_dsl": ${"[".repeat(30_000)}${"]".repeat(30_000)}}`, 400],
    ['{"p_limit": 1e999999999}', 400],
    ['{"p_limit": 99999999999999999999}', 400],
    ['{"p_query_dsl": {"a": 1}}', 400],
    [`{"p_query_dsl": "${"x".repeat(64 * 1024)}"}`, 413],
    ["", 200],
  ];
  for (const [body, status] of bodies) {
    const answer = await read(apiKey(key_value), "search_logs", {}, { body });
    assert.equal(answer.status, status, String(body).slice(0, 40));
  }
  const get = await read(apiKey(key_value), "search_logs", {}, { method: "GET", body: null });
  assert.deepEqual([get.status, get.headers.get("allow")], [405, "POST, OPTIONS"]);
  assert.equal(nameOf(get.body), "callers.method_is_not_allowed");
  const elsewhere = await call("/functions/v1/logloom-read/v2/search_logs", {
    method: "POST",
    headers: apiKey(key_value),
  });
  assert.equal(elsewhere.status, 404);
});

Deno.test("reads of a key are counted by operation and day, also concurrent ones", async () => {
  const tenant = await newTenant("read-usage");
  const { key_id, key_value } = await createKey(tenant, { p_scopes: ["read"] });
  const usage = async () =>
    (await rpc(tenant.token, "get_api_key_usage", { p_key_id: key_id })).body.reads;
  assert.deepEqual(await usage(), []);
  const statuses = await Promise.all(
    Array.from({ length: 5 }, () => read(apiKey(key_value), "log_histogram")),
  );
  const answered = statuses.filter(({ status }) => status === 200).length;
  assert.equal((await read(apiKey(key_value), "search_logs")).status, 200);
  assert.equal((await read(apiKey(key_value), "search_logs", { p_limit: 0 })).status, 400);
  // The day of the calls, unless midnight was between them.
  const day = new Date().toISOString().slice(0, 10);
  assert.deepEqual(await usage(), [
    { operation: "log_histogram", day, reads: answered },
    { operation: "search_logs", day, reads: 1 },
  ]);
});
