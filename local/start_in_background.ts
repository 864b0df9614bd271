import { Failure, sentence } from "./exit_on_failure.ts";
import type { Stack } from "./stack.ts";
import { readState, type State } from "./stack_state.ts";

/**
 * Starts a stack's program without a terminal and waits until the stack serves. The program continues after this
 * process.
 */
export async function startInBackground(
  stack: Stack,
  script: string,
  args: string[],
  progress: (step: string) => void,
): Promise<State> {
  await Deno.mkdir(`${stack.folder}/logs`, { recursive: true, mode: 0o700 });
  const log = `${stack.folder}/logs/supervisor.log`;
  const child = new Deno.Command("sh", {
    args: [
      "-c",
      'log=$1; shift; exec "$@" >"$log" 2>&1',
      "sh",
      log,
      Deno.execPath(),
      "run",
      "--allow-all",
      script,
      ...args,
    ],
    stdin: "null",
    stdout: "null",
    stderr: "null",
    detached: true,
  }).spawn();
  let ended = false;
  child.status.then(() => ended = true);
  child.unref();
  let interrupted = false;
  const interrupt = () => {
    interrupted = true;
    if (!ended) child.kill("SIGTERM");
  };
  const signals: Deno.Signal[] = ["SIGINT", "SIGTERM"];
  for (const signal of signals) Deno.addSignalListener(signal, interrupt);

  try {
    let told = "";
    while (!ended) {
      const state = await readState(stack);
      if (state?.supervisor.pid === child.pid) {
        if (state.status === "ready" && !interrupted) return state;
        if (state.message !== told) progress(told = state.message);
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  } finally {
    for (const signal of signals) Deno.removeSignalListener(signal, interrupt);
  }
  if (interrupted) throw new Failure("Starting was interrupted; nothing is left running.");
  const words = (await Deno.readTextFile(log)).trim().replace(/^logloom: /, "");
  throw new Failure(words || sentence(`the stack ended without a message (see ${log})`));
}
