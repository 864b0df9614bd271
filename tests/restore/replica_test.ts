import assert from "node:assert/strict";
import { postgrestProcess } from "../../local/processes/postgrest.ts";
import { databaseUrl } from "../../local/stack.ts";
import { firstNode } from "../../local/processes/postgres.ts";
import { type Answer, ingest, newTenant, rpc } from "../support/client.ts";
import { openDatabase, queueIsEmpty, recordsOf } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free_port.ts";
import { copyOf, server, stack, startBeside, system } from "../support/second_server.ts";

const hour = 3_600_000;
const range = {
  p_ts_from: new Date(Date.now() - hour).toISOString(),
  p_ts_to: new Date(Date.now() + hour).toISOString(),
};

/** Reading operations, with parameters that find something. */
const reading: [string, Record<string, unknown>][] = [
  ["search_logs", { p_query_dsl: "level:error", ...range }],
  ["log_stats", { p_query_dsl: "* | count() by level", ...range }],
  ["log_histogram", { p_query_dsl: "*", ...range }],
  ["list_log_fields", range],
  ["tail_logs", { p_backlog: 5 }],
  ["validate_query", { p_query_dsl: "level:error" }],
  ["get_current_tenant", {}],
  ["get_tenant_settings", {}],
  ["list_api_keys", {}],
  ["list_alert_rules", {}],
  ["list_saved_searches", {}],
];

Deno.test("reading operations give the same answers on a replica, and writing ones are refused there", async () => {
  await using sql = openDatabase();
  const tenant = await newTenant();
  const events = Array.from({ length: 20 }, (_, n) => ({
    level: ["info", "error"][n % 2],
    msg: `request ${n}`,
  }));
  await ingest(tenant.headers, events);
  await recordsOf(sql, tenant.id, events.length);

  const copy = await copyOf(firstNode(system, stack), freePort());
  await system.writeFile("postgres", `${copy.data}/standby.signal`, "");
  const [apiPort, adminPort] = [freePort(), freePort()];
  const api = postgrestProcess({
    ...stack,
    ports: { ...stack.ports, postgres: copy.port, postgrest: apiPort, postgrestAdmin: adminPort },
  });
  await using _beside = await startBeside([
    server(copy, {
      primary_conninfo: databaseUrl("supabase_admin", stack.ports.postgres, "postgres"),
    }),
    // LISTEN is not possible on a replica.
    { ...api, env: { ...api.env, PGRST_DB_CHANNEL_ENABLED: "false" } },
  ]);
  const there = async (operation: string, parameters: unknown): Promise<Answer<unknown>> => {
    const response = await fetch(`http://127.0.0.1:${apiPort}/rpc/${operation}`, {
      method: "POST",
      headers: { ...tenant.headers, "content-type": "application/json" },
      body: JSON.stringify(parameters),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };

  // An event that is sent now arrives by replication.
  await ingest(tenant.headers, [{ level: "error", msg: "the last one" }]);
  await recordsOf(sql, tenant.id, events.length + 1);
  await queueIsEmpty(sql);
  await eventually("the replica has it", async () => {
    const { body } = await there("search_logs", { p_query_dsl: '"the last one"', ...range });
    return (body as { logs: unknown[] }).logs?.length === 1;
  });
  for (const [operation, parameters] of reading) {
    const expected = await rpc<unknown>(tenant.token, operation, parameters);
    const answer = await there(operation, parameters);
    assert.equal(answer.status, 200, `${operation}: ${JSON.stringify(answer.body)}`);
    assert.deepEqual(withoutMoment(answer.body), withoutMoment(expected.body), operation);
  }
  await assertRefused(there);
});

async function assertRefused(
  there: (operation: string, parameters: unknown) => Promise<Answer<unknown>>,
): Promise<void> {
  for (
    const [operation, parameters] of [
      ["create_api_key", { p_name: "key" }],
      ["create_saved_search", { p_name: "search", p_query_dsl: "*" }],
      ["get_tenant_usage", {}],
    ] as const
  ) {
    const { status, body } = await there(operation, parameters);
    assert.deepEqual(
      { status, code: (body as { code: string }).code },
      { status: 400, code: "0A000" },
      operation,
    );
  }
}

/** Returns an answer without its cursor, which contains the time of the first page. */
function withoutMoment(body: unknown): unknown {
  if (body === null || typeof body !== "object" || Array.isArray(body)) return body;
  const { next_cursor: _cursor, ...rest } = body as Record<string, unknown>;
  return rest;
}
