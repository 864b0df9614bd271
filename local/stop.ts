import { Failure, run } from "./exit_on_failure.ts";
import { endProcess } from "./process_identity.ts";
import { runningState } from "./stack_state.ts";
import { readOptions } from "./options.ts";
import type { Stack } from "./stack.ts";

if (import.meta.main) {
  await run(async () => {
    const stopped = await stop(readOptions([]).stack);
    console.log(stopped ? "Logloom is stopped; its data is kept." : "Logloom is not running.");
  });
}

/** Stops a running stack like Ctrl-C; false if there is none. */
export async function stop(stack: Stack): Promise<boolean> {
  const state = await runningState(stack);
  if (!state) return false;
  if (!(await endProcess(state.supervisor, "SIGTERM", 60_000))) {
    throw new Failure(
      `The stack did not stop within a minute; its supervisor has the pid ${state.supervisor.pid}.`,
    );
  }
  return true;
}
