import { startInBackground } from "./start_in_background.ts";
import { Failure, run } from "./exit_on_failure.ts";
import { runningState } from "./stack_state.ts";
import { readOptions } from "./options.ts";
import { findRuntime, type Runtime } from "./deno_runtimes.ts";
import type { Stack } from "./stack.ts";
import { prepareSystem, type System } from "./system.ts";
import { fromFileUrl } from "./files.ts";
import { requireSameWorkers } from "../citus/local/nodes.ts";
import { clearTheWay, up } from "./start_stack.ts";
import { welcome } from "./welcome_text.ts";

const progress = (step: string) => console.log(`  ${step} …`);

await run(async () => {
  const options = readOptions(["archive", "background", "supervise"], [
    "functions-runtime",
    "citus",
  ]);
  const stack = options.stack;
  const workers = numberOfWorkers(stack, options.citus);
  const running = await runningState(stack);
  if (running?.status === "ready") {
    requireSameWorkers(stack, running.workers, workers);
    console.log("Logloom is already running.");
    return welcome(running);
  }
  if (running) {
    throw new Failure(`The ${stack.name} stack is ${running.status} in another terminal.`);
  }

  // This is checked before the set-up, which can take a minute.
  await clearTheWay(stack);
  const system = await prepareSystem(progress);
  const runtime = await findRuntime(options["functions-runtime"], progress);
  if (options.background) {
    welcome(
      await startInBackground(stack, fromFileUrl(new URL(import.meta.url)), [
        "--supervise",
        `--stack=${stack.name}`,
        `--functions-runtime=${runtime.version}`,
        ...options.archive ? ["--archive"] : [],
        ...workers === undefined ? [] : [`--citus=${workers}`],
      ], progress),
    );
    console.log("npm stop stops it.");
  } else await stay(stack, system, runtime, workers, options);
});

function numberOfWorkers(stack: Stack, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const most = stack.ports.workers.length;
  const workers = Number(given);
  if (Number.isInteger(workers) && workers >= 1 && workers <= most) return workers;
  throw new Failure(`--citus takes the number of workers, 1 to ${most}.`);
}

async function stay(
  stack: Stack,
  system: System,
  runtime: Runtime,
  workers: number | undefined,
  { archive, supervise: isQuiet }: { archive: boolean; supervise: boolean },
): Promise<void> {
  const { state } = await up(stack, system, {
    progress: isQuiet ? () => {} : progress,
    serving: { runtime, processes: 1 },
    workers,
    archive,
    demo: stack.name === "dev",
    console: stack.name === "dev",
    isService: true,
  });
  if (!isQuiet) {
    welcome(state);
    console.log("Ctrl-C stops it.");
  }
  await new Promise(() => {});
}
