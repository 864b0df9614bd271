import type { CallDatabase } from "../_shared/database.ts";
import { describeError, logFailure } from "../_shared/errors.ts";

/** Supabase's runtime, which lets a function continue after its answer. Missing elsewhere. */
interface Runtime {
  readonly EdgeRuntime?: { waitUntil(work: Promise<unknown>): void };
}

/** The most calls of a run. A later request continues. */
const maxCalls = 200;

/**
 * Runs the writer while pg_cron does not. One run at a time, and one more if it was requested meanwhile, because the
 * first run may have missed the new events.
 */
export function createWriterWatchdog(
  callDatabase: CallDatabase,
  pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1000)),
): () => void {
  let isRunning = false;
  let isWanted = false;

  async function guard(): Promise<void> {
    try {
      while (isWanted) {
        isWanted = false;
        await runWriter(callDatabase);
        await pause();
      }
    } catch (error) {
      logFailure("the writer could not be run", { reason: describeError(error) });
    } finally {
      isRunning = false;
    }
  }

  return () => {
    isWanted = true;
    if (isRunning) return;
    isRunning = true;
    const work = guard();
    (globalThis as Runtime).EdgeRuntime?.waitUntil(work);
  };
}

async function runWriter(callDatabase: CallDatabase): Promise<void> {
  for (let call = 0; call < maxCalls; call++) {
    const answer = await callDatabase("run_writer", "{}");
    if (!answer.ok) return;
    const run: { done?: unknown } = JSON.parse(answer.value);
    if (run.done !== false) return;
  }
}
