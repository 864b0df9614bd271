import postgres from "postgres";
import { eventually } from "./eventually.ts";
import { stack } from "./stack.ts";

export type Database = postgres.Sql & AsyncDisposable;

/** A connection pool that a test closes by leaving its scope. */
export function openDatabase(url = stack.adminDatabaseUrl, max = 2): Database {
  const sql = postgres(url, { max, onnotice: () => {}, connection: { TimeZone: "UTC" } });
  return Object.assign(sql, {
    [Symbol.asyncDispose]: () => sql.end({ timeout: 1 }),
  });
}

/** A record of app.logs as JSON shows it. */
export interface LogRecord {
  id: string;
  tenant_id: string;
  ts: string;
  received_at: string;
  arrival: number;
  level: string | null;
  msg: string | null;
  service: string | null;
  env: string | null;
  req_id: string | null;
  user_id: string | null;
  route: string | null;
  host: string | null;
  attrs: Record<string, unknown> | null;
}

export async function countRecords(sql: Database, tenantId: string): Promise<number> {
  const [{ count }] = await sql`
    select count(*)::integer from app.logs where tenant_id = ${tenantId}`;
  return count;
}

/**
 * Waits until the tenant has that many records, and gives them back in the order they were sent.
 * Runs the writer at once instead of waiting for the second in which its job does.
 */
export async function recordsOf(
  sql: Database,
  tenantId: string,
  count: number,
): Promise<LogRecord[]> {
  await sql.unsafe("call private.write_logs()");
  await eventually(
    `${count} records of ${tenantId}`,
    async () => (await countRecords(sql, tenantId)) >= count,
  );
  const rows = await sql`
    select to_jsonb(l) as record from app.logs l where l.tenant_id = ${tenantId} order by l.id`;
  return rows.map((row) => row.record as LogRecord);
}

/** Waits until nothing that was sent before is on its way any more. */
export async function queueIsEmpty(sql: Database, within = 15_000): Promise<void> {
  await eventually("the queue is empty", async () => {
    const [{ depth }] = await sql`select depth::integer from private.queue_state()`;
    return depth === 0;
  }, { within });
}

/**
 * Changes thresholds for as long as the test runs. Their columns are named as in private.settings.
 */
export async function changeSettings(
  sql: Database,
  settings: Record<string, string | number>,
): Promise<AsyncDisposable> {
  const names = Object.keys(settings);
  const [before] = await sql`
    select ${sql(names)} from (
      select (jsonb_populate_record(null::private.settings, to_jsonb(s))).* from private.settings s
    ) s`;
  await sql`update private.settings set ${sql(settings, names)} where singleton`;
  return {
    async [Symbol.asyncDispose]() {
      await sql`update private.settings set ${sql(before, names)} where singleton`;
    },
  };
}

/** Keeps a job from running for as long as the test runs. */
export async function stopJob(sql: Database, name: string): Promise<AsyncDisposable> {
  const setActive = (active: boolean) =>
    sql`select cron.alter_job(job_id := jobid, active := ${active})
        from cron.job where jobname = ${name}`;
  await setActive(false);
  await eventually(`the last run of ${name} has ended`, async () => {
    const [{ runs }] = await sql`
      select count(*)::integer as runs from pg_stat_activity
      where query like ${`%${name}%`} and backend_type = 'pg_cron' and state = 'active'`;
    return runs === 0;
  });
  return {
    async [Symbol.asyncDispose]() {
      await setActive(true);
    },
  };
}

/**
 * Keeps the writer from running for as long as the test runs. Ingest would run it after a while,
 * which it is kept from too unless the test is about that.
 */
export async function stopWriter(
  sql: Database,
  { guarded = false } = {},
): Promise<AsyncDisposable> {
  const unguarded = guarded
    ? undefined
    : await changeSettings(sql, { writer_guard_silence: "1 day" });
  const stopped = await stopJob(sql, "write_logs");
  return {
    async [Symbol.asyncDispose]() {
      await stopped[Symbol.asyncDispose]();
      await unguarded?.[Symbol.asyncDispose]();
    },
  };
}
