import net from "node:net";
import postgres from "postgres";
import type { LogRecord as ShownRecord } from "../../packages/logloom/src/read.ts";
import { eventually } from "./eventually.ts";
import { stack } from "./stack.ts";

export type Database = postgres.Sql & AsyncDisposable;

/**
 * A connection pool that closes at the end of the test's scope. `isCut`: for tests that cut connections. It does not
 * fetch array types, because the client does this in a promise that nobody can catch.
 */
export function openDatabase(
  url = stack.adminDatabaseUrl,
  max = 2,
  { isCut = false } = {},
): Database {
  const sql = postgres(url, {
    max,
    onnotice: () => {},
    connection: { TimeZone: "UTC", DateStyle: "ISO" },
    fetch_types: !isCut,
    ...isCut && { socket: socketThatIsCut },
  });
  return Object.assign(sql, { [Symbol.asyncDispose]: () => sql.end({ timeout: 1 }) });
}

/**
 * The client writes in a timer. If the server has just gone, the socket reports the write's error after the client has
 * stopped listening, so the error would end the test run. This socket closes as soon as the server ends it, so that the
 * statement fails instead.
 */
function socketThatIsCut({ host: [host], port: [port] }: { host: string[]; port: number[] }) {
  const socket = net.connect(port, host);
  socket.once("end", () => socket.destroy());
  return socket;
}

/** A record of logloom.logs as JSON. */
export type LogRecord = ShownRecord & { write_seq: number };

/** Returns the number of a tenant's stored records, as rows and in blocks. */
export async function countRecords(sql: Database, tenantId: string): Promise<number> {
  const [{ count }] = await sql`
    select (
      (select count(*) from logloom.logs where tenant_id = ${tenantId})
      + (select coalesce(sum(records), 0) from logloom_private.blocks where tenant_id = ${tenantId})
    )::integer as count`;
  return count;
}

/** Runs statements as the service's owner, like the jobs, so that new partitions belong to the owner. */
export async function callAsOwner(
  sql: Database,
  statements: string,
): Promise<Record<string, unknown>[]> {
  // The client can only reserve a connection after a first statement.
  await sql`select`;
  const connection = await sql.reserve();
  try {
    await connection.unsafe("set role postgres");
    return await connection.unsafe(statements);
  } finally {
    await connection.unsafe("reset role");
    connection.release();
  }
}

/** Waits until the tenant has this many records, and returns them in the order of sending. */
export async function recordsOf(
  sql: Database,
  tenantId: string,
  count: number,
): Promise<LogRecord[]> {
  await eventually(
    `${count} records of ${tenantId}`,
    async () => (await countRecords(sql, tenantId)) >= count,
  );
  const rows = await sql`
    select to_jsonb(l) - 'record_bytes' as record
    from logloom.logs l where l.tenant_id = ${tenantId} order by l.id`;
  return rows.map((row) => row.record as LogRecord);
}

/** Removes records as the service does, which also keeps the counts right. In the condition, a record is `l`. */
export async function removeRecords(sql: Database, condition: string): Promise<void> {
  const [{ statement }] = await sql`
    select logloom_private.removed_records_sql(
      ${`delete from logloom.logs l where ${condition}`}
    ) as statement`;
  await sql.unsafe(statement);
}

/** Waits until all events sent before are stored. */
export async function queueIsEmpty(sql: Database): Promise<void> {
  await eventually("the queue is empty", async () => {
    const [{ depth }] = await sql`select depth::integer from logloom_private.queue_state()`;
    return depth === 0;
  });
  // With Citus, nodes commit after the queue, but before the writer's lock is released.
  await sql`select pg_advisory_xact_lock(logloom_private.lock_key('writer'))`;
}

/**
 * Changes columns of logloom_private.settings until the end of the scope.
 */
export async function changeSettings(
  sql: Database,
  settings: Record<string, string | number | boolean>,
): Promise<AsyncDisposable> {
  const names = Object.keys(settings);
  const [before] = await sql`
    select ${sql(names)} from (
      select (jsonb_populate_record(null::logloom_private.settings, to_jsonb(s))).* from logloom_private.settings s
    ) s`;
  await sql`update logloom_private.settings set ${sql(settings, names)} where singleton`;
  return {
    async [Symbol.asyncDispose]() {
      await sql`update logloom_private.settings set ${sql(before, names)} where singleton`;
    },
  };
}

/** Replaces a constant of the SQL (a function without parameters) until the end of the scope. */
export async function changeConstant(
  sql: Database,
  name: string,
  value: string,
): Promise<AsyncDisposable> {
  const [{ definition, type }] = await sql`
    select pg_get_functiondef(p.oid) as definition, p.prorettype::regtype::text as type
    from pg_proc p where p.oid = ${`logloom_private.${name}`}::regproc`;
  await sql.unsafe(`
    create or replace function logloom_private.${name}() returns ${type}
    language sql immutable return ${value}`);
  return {
    async [Symbol.asyncDispose]() {
      await sql.unsafe(definition);
    },
  };
}

/** Stops a job until the end of the scope. */
export async function stopJob(sql: Database, name: string): Promise<AsyncDisposable> {
  const pause = (isPaused: boolean) =>
    sql`update logloom_private.jobs set is_paused = ${isPaused}, next_at = now() where name = ${name}
        returning clock_timestamp() as at`;
  const [{ at }] = await pause(true);
  await using stopped = new AsyncDisposableStack();
  stopped.defer(async () => {
    await pause(false);
  });
  await eventually(`the last step of ${name} has ended`, async () => {
    const steps = await sql`
      select from pg_stat_activity
      where query like '%logloom_private.work(%' and pid <> pg_backend_pid() and xact_start < ${at}`;
    return steps.length === 0;
  });
  return stopped.move();
}

/** Moves the whole queue, even if the writer is paused. A slot that is already closed is moved first. */
export async function runWriter(sql: Database): Promise<void> {
  for (let slot = 1; slot <= 2; slot++) {
    await callAsOwner(sql, "call logloom_private.run_job('write_logs')");
  }
}

/**
 * Stops the writer until the end of the scope. Ingest runs a silent writer after a while, which is prevented, too,
 * unless `guarded` is true.
 */
export async function stopWriter(
  sql: Database,
  { guarded = false } = {},
): Promise<AsyncDisposable> {
  await using stopped = new AsyncDisposableStack();
  if (!guarded) stopped.use(await changeSettings(sql, { writer_guard_silence: "1 day" }));
  stopped.use(await stopJob(sql, "write_logs"));
  return stopped.move();
}
