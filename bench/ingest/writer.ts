import type { BenchStack } from "../support/stack.ts";
import { setPaused } from "../support/pause_jobs.ts";

export async function pauseWriter({ sql }: BenchStack): Promise<void> {
  // Ingest would otherwise run the paused writer.
  await sql`update logloom_private.settings set writer_guard_silence = '1 hour' where singleton`;
  await setPaused(sql, true, ["write_logs"]);
}

export async function resumeWriter({ sql }: BenchStack): Promise<void> {
  await setPaused(sql, false, ["write_logs"]);
}

export async function queueDepth({ sql }: BenchStack): Promise<number> {
  const [{ depth }] = await sql<{ depth: number }[]>`
    select (logloom_private.queue_state()).depth::float8 as depth`;
  return depth;
}

/** Runs the writer until the queue is empty; returns the seconds. */
export async function drain(bench: BenchStack): Promise<number> {
  const started = performance.now();
  while (await queueDepth(bench) > 0) await bench.sql`call logloom_private.run_job('write_logs')`;
  return (performance.now() - started) / 1000;
}
