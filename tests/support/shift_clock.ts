import type { Database } from "./database.ts";

/**
 * Moves what the jobs remember of the time: to them it is as if the clock had gone the other way. Only of those that
 * run every minute or more often: of another, health would rightly miss a run for longer than a trial takes.
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
