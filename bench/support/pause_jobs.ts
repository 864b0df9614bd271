import type postgres from "postgres";

/** Pauses or resumes jobs, and waits until none of their steps is running. */
export async function setPaused(
  sql: postgres.Sql,
  isPaused: boolean,
  names?: string[],
): Promise<void> {
  const [{ at }] = await sql`
    with changed as (
      update logloom_private.jobs set is_paused = ${isPaused}
      where name = any (${names ?? null}::text[]) or ${names === undefined}::boolean
    )
    select clock_timestamp()::text as at`;
  for (;;) {
    const working = await sql`
      select from pg_stat_activity
      where query like 'call logloom_private.work(%' and xact_start < ${at}::timestamptz`;
    if (working.length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
