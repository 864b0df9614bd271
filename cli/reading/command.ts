import { Failure, sentence } from "../../local/failure.ts";
import { Refusal } from "../client/service.ts";
import { refusalLines } from "./lines.ts";

/** Ctrl-C ends a command with this, as a shell expects. */
const interrupted = 130;

/** Runs a reading command to its end or to Ctrl-C; what went wrong is told, and the exit code says so. */
export async function runReading(
  query: () => string,
  action: (signal: AbortSignal) => Promise<void>,
): Promise<never> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    Deno.addSignalListener(signal, () => stop.abort());
  }
  try {
    await action(stop.signal);
    Deno.exit(0);
  } catch (error) {
    if (stop.signal.aborted) Deno.exit(interrupted);
    const lines = error instanceof Refusal
      ? refusalLines(error, query())
      : [`logloom: ${error instanceof Failure ? error.message : sentence(error)}`];
    for (const line of lines) console.error(line);
    Deno.exit(1);
  }
}
