import assert from "node:assert/strict";
import { audit } from "../../packages/logloom/src/audit.ts";
import { apiKey, call, clientOf, createKey, newTenant } from "../support/client.ts";
import { callAsOwner, type Database, openDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { stack } from "../support/stack.ts";

/** Creates a tenant, and an audited table that the API shows, with two rows of it. */
async function auditedTable(db: Database, tenantId: string) {
  const name = `audited_${crypto.randomUUID().slice(0, 8)}`;
  await callAsOwner(
    db,
    `insert into logloom.tenants (tenant_id, plan_id) values ('${tenantId}', 'free');
     create table public.${name} (id int primary key, tenant_id text, state text, secret text);
     grant select, update on public.${name} to authenticated;
     insert into public.${name} values (0, '${tenantId}', '=1+1', 'x'), (1, '${tenantId}', '', '');
     select logloom.audit_table('public.${name}', ignore => '{secret}', tenant => 'tenant_id');
     notify pgrst, 'reload schema'`,
  );
  const drop = () => callAsOwner(db, `drop table public.${name}; notify pgrst, 'reload schema'`);
  return { name, [Symbol.asyncDispose]: async () => void await drop() };
}

const read = "/functions/v1/logloom-read/v1";

Deno.test("a change by PostgREST and an event of a backend are in the trail, for keys with the scope audit", async () => {
  await using db = openDatabase();
  const tenant = await newTenant("trail");
  await using table = await auditedTable(db, tenant.id);
  await eventually("PostgREST knows the table", async () => {
    const { status } = await call(`/rest/v1/${table.name}?id=eq.0`, {
      method: "PATCH",
      headers: { "content-type": "application/json", apikey: stack.anonKey, ...tenant.headers },
      body: JSON.stringify({ state: "paid", secret: "y" }),
    });
    return status === 204;
  });
  const service = { url: stack.url, key: stack.anonKey, token: stack.serviceRoleKey };
  const targets = [{ type: "invoice", id: 7 }];
  await audit(service, { action: "invoice.sent", targets, tenant: tenant.id, actor: "bob" });
  await eventually("the events are linked", async () => {
    const { events, fault } = await clientOf(tenant.token).call("verify_audit_trail", {});
    return events === 2 && fault === null;
  });

  const { key_value } = await createKey(tenant, { p_scopes: ["audit"] });
  const ask = (path: string, key = key_value, body?: string) =>
    fetch(`${stack.url}${read}/${path}`, { method: "POST", headers: apiKey(key), body });
  const events: Record<string, unknown>[] = await (await ask("list_audit_events")).json();
  assert.deepEqual(
    events.filter(({ source }) => source === "app")
      .map(({ actor, action, targets, context }) => [actor, action, targets, context]),
    [
      ["bob", "invoice.sent", [{ type: "invoice", id: "7" }], {}],
      [tenant.userId, `${table.name}.update`, [{ type: table.name, id: "0" }], {
        old: { state: "=1+1" },
        new: { state: "paid" },
      }],
    ],
  );
  const csv = await ask("audit/export", key_value, '{"format":"csv","action":"invoice.*"}');
  assert.match(
    await csv.text(),
    /^event_id,.*\r\n[\w-]+,[^,]+,app,bob,invoice\.sent,"\[\{""id"":""7"",.*,\d,\r\n$/,
  );
  const ndjson = (await (await ask("audit/export", key_value, '{"source":"app"}')).text()).trim();
  assert.deepEqual(
    ndjson.split("\n").map((line) => JSON.parse(line).action ?? line),
    ["invoice.sent", `${table.name}.update`, '{"complete":true}'],
  );
  const reads = await createKey(tenant, { p_scopes: ["read"] });
  for (
    const [path, key] of [
      ["list_audit_events", reads.key_value],
      ["audit/export", reads.key_value],
      ["search_logs", key_value],
    ]
  ) assert.equal((await ask(path, key)).status, 403, path);
});

Deno.test("writers of a tenant do not wait for each other, and are linked in the order of their commits", async () => {
  await using db = openDatabase(stack.adminDatabaseUrl, 3);
  const tenant = await newTenant("writers");
  await using table = await auditedTable(db, tenant.id);
  const isLinked = (id: number, position: string) =>
    eventually(`row ${id} is linked`, async () => {
      const [event] = await db`
        select e.position from logloom.audit_events e
        where e.tenant_id = ${tenant.id} and e.subject = ${id}`;
      return event?.position === position;
    });
  await db.begin(async (first) => {
    await first`update ${first(table.name)} set state = 'first' where id = 0`;
    await db`update ${db(table.name)} set state = 'second' where id = 1`;
    await isLinked(1, "1");
  });
  await isLinked(0, "2");
});
