import assert from "node:assert/strict";
import { apiKey, clientOf, createKey, health, ingest, newTenant, rpc } from "../support/client.ts";
import { openDatabase, recordsOf } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { stack } from "../support/stack.ts";

/** Lets PostgREST expose these schemas until the end of the scope. */
async function expose(schemas: string, isSo: () => Promise<boolean>): Promise<AsyncDisposable> {
  await using db = openDatabase();
  await db`create schema if not exists api`;
  await db`grant usage on schema api to anon, authenticated, service_role`;
  const set = async (change: string, isDone: () => Promise<boolean>) => {
    await using sql = openDatabase();
    await sql.unsafe(`alter role authenticator ${change}; notify pgrst, 'reload config'`);
    await sql`notify pgrst, 'reload schema'`;
    await eventually("PostgREST has read its settings", isDone);
  };
  await set(`set pgrst.db_schemas = '${schemas}'`, isSo);
  const { token } = await newTenant();
  return {
    [Symbol.asyncDispose]: () =>
      set("reset pgrst.db_schemas", async () => (await rpc(token, "list_api_keys")).status === 200),
  };
}

async function asked(key: string) {
  const response = await fetch(`${stack.url}/functions/v1/logloom-read/v1/search_logs`, {
    method: "POST",
    headers: apiKey(key),
    body: "{}",
  });
  return { status: response.status, body: await response.json() };
}

Deno.test("a project that exposes its own schema first is served like any other", async () => {
  const tenant = await newTenant();
  const { key_value } = await createKey(tenant, { p_scopes: ["ingest", "read"] });
  // Without a schema in the request, PostgREST uses the first.
  await using _schemas = await expose("api, public", async () => {
    return (await rpc(tenant.token, "list_api_keys")).status === 404;
  });
  assert.equal((await ingest(apiKey(key_value), [{ msg: "there" }])).status, 200);
  await using db = openDatabase();
  await recordsOf(db, tenant.id, 1);
  const { status, body } = await asked(key_value);
  assert.deepEqual([status, body.logs[0].msg], [200, "there"]);
  assert.equal((await clientOf(tenant.token).call("search_logs", {})).logs[0].msg, "there");
  assert.equal((await health("/ready")).status, 200);
});

Deno.test("if public is not exposed, the answer says so", async () => {
  const tenant = await newTenant();
  const { key_value } = await createKey(tenant, { p_scopes: ["ingest", "read"] });
  const said =
    "The schema public is not exposed: add it to the project's exposed schemas (Data API settings)";
  await using _schemas = await expose("api", async () => {
    return (await ingest(apiKey(key_value), [{}])).body.error === said;
  });
  const { status, body } = await asked(key_value);
  assert.deepEqual([status, body.message], [503, said]);
  const { checks } = (await health("/detailed")).body as { checks: { database: unknown } };
  assert.deepEqual(checks.database, { status: "unhealthy", reason: said });
  await assert.rejects(clientOf(tenant.token).call("search_logs", {}), {
    message: "The project does not expose the schema public, which has the operations.",
    hint: "Add it to the exposed schemas in the project's Data API settings.",
  });
});
