import assert from "node:assert/strict";
import {
  apiKey,
  bearer,
  createKey,
  ingest,
  newTenant,
  rpc,
  type Tenant,
} from "../support/client.ts";
import { openDatabase, recordsOf } from "../support/database.ts";
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
