import assert from "node:assert/strict";
import {
  type Answer,
  apiKey,
  bearer,
  call,
  createKey,
  ingest,
  newTenant,
  rpc,
  type Tenant,
} from "../support/client.ts";
import { changeSettings, openDatabase, recordsOf } from "../support/database.ts";
import { operations } from "../../supabase/functions/logloom-read/operations.ts";
import { stack } from "../support/stack.ts";
import { userToken } from "../support/tokens.ts";
import { onlyIf } from "../support/skip_unless.ts";

Deno.test("tenants that send at once, with the same idempotency keys, have only their own records", async () => {
  const tenants = await Promise.all(["a", "b", "c"].map(newTenant));
  const keys = await Promise.all(tenants.map((tenant) => createKey(tenant)));
  const requests = tenants.flatMap((tenant, index) =>
    Array.from({ length: 10 }, (_, request) => {
      const headers = request % 2 === 0 ? apiKey(keys[index].key_value) : tenant.headers;
      // A tenant_id in an event does not count.
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

Deno.test("the tables show a tenant only its own rows", {
  // Nodes admit only the service's owner, so users cannot read sharded tables.
  ...onlyIf(!Deno.env.has("LOGLOOM_IS_SHARDED"), "users do not read sharded tables"),
}, async () => {
  const [mine, other] = await Promise.all([newTenant("mine"), newTenant("other")]);
  for (const tenant of [mine, other]) {
    await createKey(tenant);
    await ingest(tenant.headers, [{ msg: tenant.id }]);
  }
  // The database's owner may act as an API role, like PostgREST for a request.
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

Deno.test("another tenant's API key is not listed; revoking it or reading its usage is 404", async () => {
  const [mine, other] = await Promise.all([newTenant("mine"), newTenant("other")]);
  const { key_id, key_value } = await createKey(other);
  assert.deepEqual((await rpc(mine.token, "list_api_keys")).body, []);
  for (const operation of ["revoke_api_key", "get_api_key_usage"]) {
    assert.equal((await rpc(mine.token, operation, { p_key_id: key_id })).status, 404);
  }
  assert.equal((await ingest(apiKey(key_value), [])).status, 200);
});

/** The operations that answer neither in views nor in portal sessions without parts. */
const ofTenant = ["get_tenant_usage", "list_audit_events"];

/** The name of a kind of reader, and its headers. */
type Reader = readonly [name: string, headers: Record<string, string>];

/** Makes one reader of every kind that a tenant may have. */
async function readersOf(tenant: Tenant): Promise<Reader[]> {
  const { body: view } = await rpc<{ view_id: string }>(tenant.token, "create_log_view", {
    p_name: "all",
    p_operations: operations.filter((operation) => !ofTenant.includes(operation)),
  });
  const viewerId = crypto.randomUUID();
  const viewer = { p_user_id: viewerId, p_role: "viewer", p_view_id: view.view_id };
  assert.equal((await rpc(tenant.token, "add_tenant_member", viewer)).status, 200);
  const key = await createKey(tenant, { p_scopes: ["read", "audit"] });
  const keyInView = await createKey(tenant, { p_scopes: ["read"], p_view_id: view.view_id });
  const session = await rpc<{ token: string }>(tenant.token, "create_log_portal_session", {
    p_view_id: view.view_id,
  });
  const claims = { tenant_id: tenant.id, sub: tenant.userId };
  return [
    ["user", tenant.headers],
    ["key", apiKey(key.key_value)],
    ["key in a view", apiKey(keyInView.key_value)],
    ["client", bearer(await userToken({ ...claims, client_id: crypto.randomUUID() }))],
    ["viewer", bearer(await userToken({ ...claims, sub: viewerId }))],
    ["session", bearer(session.body.token)],
  ];
}

interface Neighbours {
  mine: Tenant;
  other: Tenant;
  /** The text in each field of the tenant's one record. */
  own: string;
  /** The other tenant's text, and the id and time of its record. */
  marker: string;
  id: unknown;
  ts: unknown;
}

async function neighbours(): Promise<Neighbours> {
  const [mine, other] = await Promise.all([newTenant("mine"), newTenant("other")]);
  const own = `mine-${crypto.randomUUID()}`;
  const marker = `secret-of-${crypto.randomUUID()}`;
  for (const [tenant, text] of [[mine, own], [other, marker]] as const) {
    await ingest(tenant.headers, [{ msg: text, service: text, card: text }]);
  }
  await using db = openDatabase();
  await recordsOf(db, mine.id, 1);
  const [{ id, ts }] = await recordsOf(db, other.id, 1);
  // An export only has records before the watermark, so these get an earlier time of receipt.
  await db`
    update logloom.logs set received_at = received_at - interval '5 minutes'
    where tenant_id in (${mine.id}, ${other.id})`;
  return { mine, other, own, marker, id, ts };
}

Deno.test("no reading operation returns another tenant's record, to any kind of reader", async () => {
  const { mine, other, marker, id, ts } = await neighbours();
  await rpc(other.token, "create_saved_search", {
    p_name: marker,
    p_query_dsl: "level:error",
    p_is_shared: true,
  });
  const { body: theirs } = await rpc<{ view_id: string }>(other.token, "create_log_view", {
    p_name: marker,
  });
  for (const [reader, headers] of await readersOf(mine)) {
    for (const operation of operations) {
      const { status, body } = await call(`/functions/v1/logloom-read/v1/${operation}`, {
        method: "POST",
        headers,
        body: JSON.stringify(asked(operation, { id, ts })),
      });
      assert.equal(
        status,
        /^get_(?!tenant)/.test(operation)
          ? 404
          : ofTenant.includes(operation) && /view|session/.test(reader)
          ? 403
          : 200,
        `${operation} by ${reader}`,
      );
      assert.ok(!JSON.stringify(body).includes(marker), `${operation} by ${reader}`);
    }
    for (const operation of ["list_alert_rules", "list_alert_history"]) {
      const { status } = await call(`/functions/v1/logloom-read/v1/${operation}`, {
        method: "POST",
        headers,
        body: JSON.stringify({ p_tenant_id: other.id }),
      });
      assert.equal(status, 403, `${operation} of another tenant by ${reader}`);
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

const reading = "/functions/v1/logloom-read";

/** Makes requests of the other protocols: for all records, and for records with a text. */
const protocols: Record<
  string,
  (headers: Record<string, string>, text?: string) => Promise<Answer<unknown>>
> = {
  "an export": async (headers, text = "") => {
    const query = new URLSearchParams({ query: text && `any:"${text}"` });
    const answer = await fetch(`${stack.url}${reading}/v1/export?${query}`, { headers });
    return { status: answer.status, headers: answer.headers, body: await answer.text() };
  },
  "Loki": (headers, text = "") => {
    const query = '{service=~".+"}' + (text && ` |= "${text}"`);
    return call(`${reading}/loki/api/v1/query_range?${new URLSearchParams({ query })}`, {
      headers,
    });
  },
  "MCP": (headers, text = "") =>
    call(`${reading}/mcp`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...headers,
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "search_logs", arguments: text ? { query_dsl: `any:"${text}"` } : {} },
      }),
    }),
};

Deno.test("no other protocol shows another tenant's records, to any kind of reader", async () => {
  const { mine, other, own, marker } = await neighbours();
  for (const [protocol, ask] of Object.entries(protocols)) {
    const { status, body } = await ask(other.headers, marker);
    assert.equal(status, 200, protocol);
    assert.match(JSON.stringify(body), /"card/, `${protocol} shows it to its own tenant`);
  }
  for (const [reader, headers] of await readersOf(mine)) {
    for (const [protocol, ask] of Object.entries(protocols)) {
      const [all, theirs] = [await ask(headers), await ask(headers, marker)];
      const texts = [all, theirs].map(({ body }) => JSON.stringify(body));
      assert.deepEqual(
        [all.status, theirs.status],
        [200, 200],
        `${protocol} by ${reader}: ${texts}`,
      );
      assert.ok(
        texts[0].includes(own),
        `${protocol} by ${reader} shows the own record: ${texts[0]}`,
      );
      assert.ok(!texts[0].includes(marker), `${protocol} by ${reader}: ${texts[0]}`);
      // The answer may repeat the query, but has no record.
      for (const field of ['"card', own]) {
        assert.ok(!texts[1].includes(field), `${protocol} by ${reader}: ${texts[1]}`);
      }
    }
  }
});

Deno.test("credentials that only send, or only open a session, read by no protocol", async () => {
  const { mine, own } = await neighbours();
  const sends = await rpc<{ token: string }>(mine.token, "create_ingest_token", {
    p_service: "shop",
  });
  await using db = openDatabase();
  let link: Answer<{ url: string }>;
  {
    await using _settings = await changeSettings(db, { portal_url: "https://logs.example/p.html" });
    link = await rpc<{ url: string }>(mine.token, "create_log_portal_session", { p_link: true });
  }
  const code = link.body.url.split("#")[1];
  for (const [value, prefix] of [[sends.body.token, "llt_"], [code, "llc_"]]) {
    assert.ok(value.startsWith(prefix), value);
    for (const headers of [bearer(value), apiKey(value)]) {
      const answers = new Map<string, Answer<unknown>>();
      for (const operation of operations) {
        answers.set(
          operation,
          await call(`${reading}/v1/${operation}`, { method: "POST", headers, body: "{}" }),
        );
      }
      for (const [protocol, ask] of Object.entries(protocols)) {
        answers.set(protocol, await ask(headers));
      }
      for (const [name, { status, body }] of answers) {
        assert.equal(status, 401, `${name} by ${prefix}`);
        assert.ok(!JSON.stringify(body).includes(own), `${name} by ${prefix}`);
      }
    }
  }
  // The code was not used up: it still opens its session.
  const opened = await call<{ token: string }>(`${reading}/v1/portal/session`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code }),
  });
  assert.equal(opened.status, 200);
  const { body } = await call(`${reading}/v1/search_logs`, {
    method: "POST",
    headers: bearer(opened.body.token),
    body: "{}",
  });
  assert.ok(JSON.stringify(body).includes(own));
});

/** Gives an operation the parameters with which it shows the most. */
function asked(operation: string, { id, ts }: { id: unknown; ts: unknown }) {
  const range = { p_ts_from: "now-1h", p_ts_to: "now+1h" };
  switch (operation) {
    case "get_error_group":
    case "get_log":
    case "get_log_context":
      return { p_id: id, p_ts: ts };
    case "get_tenant_usage":
      return {};
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
