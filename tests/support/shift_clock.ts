import type { Database } from "./database.ts";

/**
 * Shifts the times that jobs remember, as if the clock had been set the other way. Only for jobs that run at least every
 * minute: for others health would rightly report a missing run for longer than a test takes.
 */
export async function shiftClock(sql: Database, by: string): Promise<void> {
  await sql`
    update logloom_private.jobs j
    set last_started_at = j.last_started_at + ${by}::interval, next_at = j.next_at + ${by}::interval,
      last_succeeded_at = j.last_succeeded_at + ${by}::interval
    where j.last_succeeded_at <= now() and j.every <= '1 minute'`;
  await sql`
    update logloom_private.alert_rounds
    set window_end = window_end + ${by}::interval, finished_at = finished_at + ${by}::interval
    where window_end <= now()`;
}
