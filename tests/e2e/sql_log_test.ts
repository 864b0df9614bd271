import assert from "node:assert/strict";
import postgres from "postgres";
import { bearer, clientOf, newTenant, rpc } from "../support/client.ts";
import { openDatabase, recordsOf } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { stack } from "../support/stack.ts";

Deno.test("what a function of the project logs is found, with its tenant, user and request", async () => {
  await using db = openDatabase();
  const tenant = await newTenant();
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const place = async (token: string, id: number) => {
    const headers = { ...bearer(token), "content-type": "application/json", traceparent };
    return (await rpc(token, "place_sql_log_order", { p_id: id }, { headers })).status;
  };
  await db`
    create or replace function public.place_sql_log_order(p_id integer) returns integer
    language plpgsql as $$
    begin
      perform logloom.log('warning', 'order placed', jsonb_build_object('order_id', p_id), 'shop');
      return 1 / p_id;
    end;
    $$`;
  try {
    await db`notify pgrst, 'reload schema'`;
    // Nobody is signed in: the function works, and nothing is logged.
    await eventually("the function is known", async () => await place(stack.anonKey, 1) === 200);
    assert.deepEqual([await place(tenant.token, 0), await place(tenant.token, 2)], [400, 200]);
  } finally {
    await db`drop function public.place_sql_log_order(integer)`;
  }
  await recordsOf(db, tenant.id, 1);
  const { logs } = await clientOf(tenant.token).call("search_logs", {
    p_query_dsl: "service:shop",
  });
  assert.deepEqual(
    logs.map(({ level, msg, req_id, user_id, attrs }) => [level, msg, req_id, user_id, attrs]),
    [["warn", "order placed", "0af7651916cd43dd8448eb211c80319c", tenant.userId, {
      order_id: 2,
      function: "place_sql_log_order(integer)",
      original_level: "warning",
    }]],
  );
});

Deno.test("open transactions delay no others, and each record comes once", async () => {
  await using db = openDatabase(stack.databaseUrl, 6);
  const { id } = await newTenant();
  await db`insert into logloom.tenants (tenant_id, plan_id) values (${id}, 'free')`;
  const open = [];
  for (const msg of ["a", "b", "c", "d", "e"]) {
    const connection = await db.reserve();
    await connection`begin`;
    await connection`select logloom.log('info', ${msg}, p_tenant_id => ${id})`;
    open.push(connection);
  }
  await open[3]`rollback`;
  // The first to begin is the last to end.
  for (const [n, place] of [4, 2, 1, 0].entries()) {
    await open[place]`commit`;
    await recordsOf(db, id, n + 1);
  }
  open.forEach((connection) => connection.release());
  const rows = await db`select msg from logloom.logs where tenant_id = ${id} order by received_at`;
  assert.deepEqual(rows.map(({ msg }) => msg), ["e", "c", "b", "a"]);
});

Deno.test("a transaction that logs too much has one record that says how much was left out", async () => {
  await using db = openDatabase(stack.databaseUrl);
  const { id } = await newTenant();
  await db`insert into logloom.tenants (tenant_id, plan_id) values (${id}, 'free')`;
  await db`select logloom.log('info', 'n', p_tenant_id => ${id}) from generate_series(1, 1003)`;
  const messages = (await recordsOf(db, id, 1001)).map(({ msg }) => msg);
  const said = "3 more records of this transaction were left out";
  assert.deepEqual([messages.length, messages.filter((msg) => msg !== "n")], [1001, [said]]);
});

Deno.test("a caller without a tenant gets one line in PostgreSQL's log, without the record", async () => {
  const lines: string[] = [];
  const db = postgres(stack.databaseUrl, {
    connection: { client_min_messages: "log" },
    onnotice: ({ severity, message }) => lines.push(`${severity} ${message}`),
  });
  await db`select logloom.log('info', 'secret', '{"a": "secret"}') from generate_series(1, 1000)`;
  await db.end();
  const said = "logloom.log() stores nothing from SQL: read-only, or the caller has no tenant";
  assert.deepEqual(lines, [`LOG ${said}`]);
});
