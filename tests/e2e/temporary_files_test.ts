import assert from "node:assert/strict";
import { dirname } from "node:path";
import { ingest, newTenant, rpc } from "../support/client.ts";
import { openDatabase, queueIsEmpty } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { putOnPlan } from "../support/plans.ts";
import { stack } from "../support/stack.ts";

const most = 64 * 1024 * 1024;

/** Returns from the log how many bytes of temporary files each database process wrote. */
async function temporaryBytes(): Promise<Map<string, number>> {
  const log = await Deno.readTextFile(`${dirname(stack.stateFile)}/logs/postgres.log`);
  const bytes = new Map<string, number>();
  for (
    const [, pid, size] of log.matchAll(
      /\[(\d+)\] authenticator@\S+ LOG: {2}temporary file: .*, size (\d+)/g,
    )
  ) {
    bytes.set(pid, (bytes.get(pid) ?? 0) + Number(size));
  }
  return bytes;
}

const sum = (bytes: Map<string, number>) => [...bytes.values()].reduce((a, b) => a + b, 0);

Deno.test("no operation spills more than 64 MB over records with wide attributes", async () => {
  await using db = openDatabase();
  const tenant = await newTenant("wide");
  await putOnPlan(db, tenant, { concurrent_searches: 8 });
  // Many keys, long keys, long values and deep objects, each as wide as a request may be.
  const keys = (name: (i: number) => string, value: unknown, count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [name(i), value]));
  const wide = [
    keys((i) => `k${i}`, 1, 40_000),
    keys((i) => `${i}`.padStart(2_000, "k"), "v", 230),
    keys((i) => `k${i}`, "v".repeat(2_000), 230),
    { a: { b: { c: { d: keys((i) => `${i}`, 1, 40_000) } } } },
  ];
  for (let request = 0; request < 60; request++) {
    const { status } = await ingest(tenant.headers, [{
      msg: "wide",
      attrs: wide[request % wide.length],
    }]);
    assert.equal(status, 200);
  }
  await queueIsEmpty(db);
  await db.unsafe("alter system set log_temp_files = 0");
  await db`select pg_reload_conf()`;
  try {
    await eventually("the setting holds", async () => {
      const [{ log_temp_files }] = await db`show log_temp_files`;
      return log_temp_files === "0";
    });
    const operations: [string, Record<string, unknown>][] = [
      ["list_log_fields", {}],
      ["search_logs", { p_limit: 10 }],
      ["log_stats", { p_query_dsl: "* | count() by msg" }],
      ["log_histogram", { p_query_dsl: "wide" }],
    ];
    for (const [operation, parameters] of operations) {
      const before = sum(await temporaryBytes());
      const { status, body } = await rpc(tenant.token, operation, parameters);
      assert.equal(status, 200, `${operation}: ${JSON.stringify(body).slice(0, 300)}`);
      const spilled = sum(await temporaryBytes()) - before;
      assert.ok(spilled <= most, `${operation} spilled ${spilled} bytes`);
    }
  } finally {
    await db.unsafe("alter system reset log_temp_files");
    await db`select pg_reload_conf()`;
  }
});
