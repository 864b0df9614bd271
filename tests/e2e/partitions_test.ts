import assert from "node:assert/strict";
import { ingest, newTenant, rpc, type Tenant } from "../support/client.ts";
import { openDatabase, queueIsEmpty } from "../support/database.ts";
import { putOnPlan } from "../support/plans.ts";

const day = 86_400_000;

/** Makes an event of each of the last 400 days, the newest first. */
const everyDay = () =>
  Array.from({ length: 400 }, (_, ago) => ({
    ts: new Date(Date.now() - ago * day).toISOString(),
    msg: "one a day",
  }));

const searchAll = ({ token }: Tenant, operation: string) =>
  rpc(token, operation, { p_query_dsl: "one", p_ts_from: "1970-01-01T00:00:00Z" });

const partitions = async (db: ReturnType<typeof openDatabase>): Promise<number> => {
  const [{ count }] = await db`
    select count(*)::integer as count from pg_inherits i
    where i.inhparent = 'logloom.logs'::regclass`;
  return count;
};

Deno.test("a tenant that keeps a week creates no partitions of a year, and searches from 1970 lock few partitions", async () => {
  await using db = openDatabase();
  const [{ locks, connections }] = await db`
    select current_setting('max_locks_per_transaction') as locks,
      current_setting('max_connections') as connections`;
  assert.deepEqual([locks, connections], ["64", "60"]);
  const tenant = await newTenant();
  await putOnPlan(db, tenant, {
    retention_days_default: 7,
    retention_days_max: 7,
    concurrent_searches: 20,
  });
  const before = await partitions(db);
  const { status, body } = await ingest(tenant.headers, everyDay());
  assert.equal(status, 200);
  assert.ok((body.ingested as number) <= 8 && (body.ingested as number) >= 7);
  assert.equal((body.ingested as number) + (body.rejected as number), 400);
  await queueIsEmpty(db);
  assert.ok(await partitions(db) <= before + 8);

  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) => searchAll(tenant, n % 2 ? "log_stats" : "search_logs")),
  );
  assert.deepEqual(
    answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 429),
    [],
  );
});
