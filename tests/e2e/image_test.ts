import assert from "node:assert/strict";
import { clientOf, ingest, newTenant } from "../support/client.ts";
import { openDatabase, recordsOf } from "../support/database.ts";
import { stack } from "../support/stack.ts";

Deno.test("the database has the settings of a small hosted instance", async () => {
  await using sql = openDatabase(stack.databaseUrl, 1);
  const [settings] = await sql`
    select
      current_setting('extra_float_digits') as digits,
      current_setting('max_connections') as connections,
      current_setting('statement_timeout') as timeout,
      (select rolsuper from pg_roles where rolname = current_user) as is_superuser`;
  assert.deepEqual(settings, {
    digits: "0",
    connections: "60",
    timeout: "2min",
    is_superuser: false,
  });
  const roles = await sql`
    select r.rolname as role, c.setting
    from pg_db_role_setting s
    join pg_roles r on r.oid = s.setrole
    cross join unnest(s.setconfig) c (setting)
    where c.setting like '%\\_timeout=%' and r.rolname in ('anon', 'authenticated', 'authenticator')
    order by 1, 2`;
  assert.deepEqual(roles.map(({ role, setting }) => `${role} ${setting}`), [
    "anon statement_timeout=3s",
    "authenticated statement_timeout=8s",
    "authenticator lock_timeout=8s",
    "authenticator statement_timeout=8s",
  ]);
});

Deno.test("numbers in an answer have all their digits, although the server's setting cuts them", async () => {
  await using sql = openDatabase();
  const tenant = await newTenant();
  await ingest(tenant.headers, [0, 1, 1].map((n) => ({ service: "float", n })));
  await recordsOf(sql, tenant.id, 3);
  const body = await clientOf(tenant.token).call("log_stats", {
    p_query_dsl: "service:float | avg(@n)",
  });
  assert.match(JSON.stringify(body), /0\.6666666666666666\b/);
});
