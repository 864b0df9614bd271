import type postgres from "postgres";

/** Runs an "insert into logloom.logs as l …" and maintains the counts, like the service. */
export async function addRecords(
  sql: postgres.Sql,
  insert: string,
  parameters: postgres.ParameterOrJSON<never>[] = [],
): Promise<void> {
  const [{ statement }] = await sql<{ statement: string }[]>`
    select logloom_private.added_records_sql(${insert}) as statement`;
  await sql.unsafe(statement, parameters);
}

/** Removes all records and everything derived from them. */
export async function removeAllRecords(sql: postgres.Sql): Promise<void> {
  await sql`
    truncate logloom.logs, logloom_private.log_counts, logloom_private.log_days,
      logloom_private.log_writes`;
}
