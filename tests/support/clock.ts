import type { Database } from "./database.ts";

/**
 * Moves what the jobs remember of the time: to them it is as if the clock had gone the other way. Only of those that
 * run every minute or more often: of another, health would rightly miss a run for longer than a trial takes. Retention
 * looks every minute, and works once a day.
 */
export async function shiftClock(sql: Database, by: string): Promise<void> {
  await sql`
    update logloom_private.job_heartbeats h
    set last_started_at = h.last_started_at + ${by}::interval,
      last_succeeded_at = h.last_succeeded_at + ${by}::interval
    where h.last_succeeded_at <= now() and h.job <> 'run_retention' and exists (
      select from cron.job j
      where j.jobname = 'logloom_' || h.job
        and (j.schedule like '% seconds' or j.schedule = '* * * * *')
    )`;
  await sql`
    update logloom_private.alert_rounds
    set window_end = window_end + ${by}::interval, finished_at = finished_at + ${by}::interval
    where window_end <= now()`;
}
