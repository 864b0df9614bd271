import assert from "node:assert/strict";
import { createClient } from "@supabase/supabase-js";
import { secretApiKey } from "../../local/signing_keys.ts";
import { bearer, call, clientOf, ingest, newTenant, rpc } from "../support/client.ts";
import { changeSettings, openDatabase, recordsOf } from "../support/database.ts";
import { stack } from "../support/stack.ts";

// A customer reads their logs: a backend makes a session, a page reads with its token.

interface Page {
  logs: { msg: string; user_id: string | null }[];
}

interface Session {
  session_id: string;
  token: string | null;
  url: string | null;
}

function read(token: string, operation: string, parameters: unknown = {}, origin?: string) {
  return call<Page & { message: string; hint: string }>(
    `/functions/v1/logloom-read/v1/${operation}`,
    {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...bearer(token),
        ...origin !== undefined && { "x-logloom-origin": origin },
      },
      body: JSON.stringify(parameters),
    },
  );
}

/** Creates a session like a backend, with the project's secret key, for any tenant. */
async function sessionFor(tenant: string, parameters: Record<string, unknown>): Promise<Session> {
  const { status, body } = await call<Session>("/rest/v1/rpc/create_log_portal_session", {
    method: "POST",
    headers: {
      "content-type": "application/json",
      apikey: stack.serviceRoleKey,
      ...bearer(stack.serviceRoleKey),
    },
    body: JSON.stringify({ p_tenant_id: tenant, ...parameters }),
  });
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

async function customers() {
  const tenant = await newTenant("portal");
  await ingest(tenant.headers, [
    { msg: "order of 42", customer: 42, user_id: "ann", level: "error" },
    { msg: "payment of 42", customer: 42, level: "info" },
    { msg: "order of 43", customer: 43, level: "error" },
  ]);
  await using db = openDatabase();
  await recordsOf(db, tenant.id, 3);
  return tenant;
}

const messages = (page: Page) => page.logs.map(({ msg }) => msg).sort();

Deno.test("a session reads its query's records, on its own origins, until it is revoked", async () => {
  const tenant = await customers();
  const origin = "https://app.example";
  const { session_id, token } = await sessionFor(tenant.id, {
    p_query_dsl: "@customer:42",
    p_origins: [origin],
  });
  assert.ok(token);
  const all = await read(token, "search_logs", {}, origin);
  assert.deepEqual([all.status, messages(all.body)], [200, ["order of 42", "payment of 42"]]);
  const wider = await read(token, "search_logs", { p_query_dsl: "@customer:43 OR level:error" });
  assert.deepEqual(messages(wider.body), ["order of 42"]);
  const elsewhere = await read(token, "search_logs", {}, "https://evil.example");
  assert.deepEqual(
    [elsewhere.status, elsewhere.body.message],
    [403, "This session is not for pages of https://evil.example"],
  );
  // The token can only read.
  assert.equal((await read(token, "create_api_key", { p_name: "x" })).status, 404);
  assert.equal((await rpc(token, "search_logs")).status, 401);
  assert.equal((await ingest(bearer(token), [{ msg: "x" }])).status, 401);

  await clientOf(tenant.token).call("revoke_log_portal_session", { p_session_id: session_id });
  const revoked = await read(token, "search_logs", {}, origin);
  assert.deepEqual([revoked.status, revoked.body.hint], [401, "The portal session was revoked."]);
  assert.match(revoked.headers.get("www-authenticate") ?? "", /^Bearer/);
});

Deno.test("a page learns which operations its token may call, without using up a limit", async () => {
  const tenant = await customers();
  const { view_id } = await clientOf(tenant.token).call("create_log_view", {
    p_name: "less",
    p_operations: ["search_logs", "get_log_context", "log_stats"],
  });
  const operationsOf = async (token: string | null, origin?: string) => {
    const { status, body } = await call<{ operations: string[] }>(
      "/functions/v1/logloom-read/v1/portal/operations",
      {
        method: "POST",
        headers: {
          ...bearer(token ?? ""),
          ...origin !== undefined && { "x-logloom-origin": origin },
        },
      },
    );
    return { status, operations: body.operations?.toSorted() };
  };
  const all = await sessionFor(tenant.id, {});
  const less = await sessionFor(tenant.id, { p_view_id: view_id });
  assert.deepEqual((await operationsOf(all.token)).operations, [
    "export_logs",
    "get_log_context",
    "list_log_fields",
    "log_changes",
    "log_histogram",
    "log_series",
    "log_stats",
    "search_logs",
    "tail_logs",
  ]);
  // The context of a record needs get_log as well.
  assert.deepEqual((await operationsOf(less.token)).operations, ["log_stats", "search_logs"]);
  assert.deepEqual((await operationsOf(less.token, "https://evil.example")).operations, []);
  assert.equal((await operationsOf("llp_unknown")).status, 401);
  await using db = openDatabase();
  const reads = await db`select * from logloom_private.portal_reads where tenant_id = ${tenant.id}`;
  assert.equal(reads.length, 0);
});

Deno.test("a token in an address is ignored", async () => {
  const tenant = await newTenant("portal-address");
  const { token } = await sessionFor(tenant.id, {});
  const { status } = await call(`/functions/v1/logloom-read/v1/search_logs?token=${token}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  });
  assert.equal(status, 401);
});

Deno.test("a link opens its session once", async () => {
  const tenant = await customers();
  await using db = openDatabase();
  await using _portal = await changeSettings(db, {
    portal_url: "https://logs.example/portal.html",
  });
  const { url } = await sessionFor(tenant.id, { p_link: true });
  const [page, code] = url?.split("#") ?? [];
  assert.equal(page, "https://logs.example/portal.html");
  const open = (code: unknown) =>
    call<{ token: string; message: string }>("/functions/v1/logloom-read/v1/portal/session", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ code }),
    });
  // Only one of several concurrent requests gets the token.
  const answers = await Promise.all(Array.from({ length: 8 }, () => open(code)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(7).fill(401)]);
  const [opened] = answers.filter(({ status }) => status === 200);
  assert.match(opened.headers.get("cache-control") ?? "", /no-store/);
  const { body } = await read(opened.body.token, "search_logs");
  assert.equal(body.logs.length, 3);
  const again = await open(code);
  assert.deepEqual([again.status, again.body.message], [
    401,
    "This link has been used, or is too old",
  ]);
  for (const [wrong, status] of [[`${code}x`, 401], [opened.body.token, 401], [7, 400]]) {
    assert.equal((await open(wrong)).status, status);
  }
});

Deno.test("the secret key makes a session for any tenant in one call, and no other token does", async () => {
  const tenant = `portal-new-${crypto.randomUUID()}`;
  const create = (headers: Record<string, string>) =>
    call<Session>("/rest/v1/rpc/create_log_portal_session", {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ p_tenant_id: tenant }),
    });
  // Works like examples/portal, also for a tenant that has not sent anything yet.
  const made = await create({ apikey: secretApiKey });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  const { body } = await read(made.body.token ?? "", "search_logs");
  assert.deepEqual(body.logs, []);
  const other = await newTenant("portal-other");
  assert.equal((await create({ apikey: stack.anonKey, ...bearer(other.token) })).status, 403);
  assert.equal((await create({ apikey: stack.anonKey })).status, 401);
  // Uses supabase-js like the README.
  const { data, error } = await createClient(stack.url, secretApiKey).rpc(
    "create_log_portal_session",
    { p_tenant_id: tenant, p_origins: ["https://app.example.com"] },
  );
  assert.equal(error, null);
  assert.deepEqual((await read(data.token, "search_logs")).body.logs, []);
});
