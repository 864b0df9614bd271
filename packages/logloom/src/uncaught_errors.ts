import { host, server, showError } from "./runtime.ts";
import type { Logger } from "./types.ts";

interface Uncaught {
  readonly error?: unknown;
  readonly reason?: unknown;
  readonly message?: string;
}

type Process = NonNullable<typeof host.process>;

const uncaughtName = "uncaughtException";
const lastMs = 5000;
/** All copies of this module share the loggers: `logloom/tenants` has its own. */
const loggersName = Symbol.for("logloom");

/** Logs errors that nobody caught. A server's program still ends by them, after its events are sent. */
export function captureErrors(logger: Logger): () => void {
  const process = server;
  if (process?.on) {
    const shared = host as { [loggersName]?: Set<Logger> };
    const loggers = shared[loggersName] ??= loggersOf(process);
    loggers.add(logger);
    return () => void loggers.delete(logger);
  }

  // Not by an AbortController: a Worker may make none while it starts.
  let isOver = false;
  host.addEventListener?.(
    "error",
    ({ error, message }: Uncaught) => isOver || log(logger, "uncaught error", error ?? message),
  );
  host.addEventListener?.(
    "unhandledrejection",
    ({ reason }: Uncaught) => isOver || log(logger, "unhandled rejection", reason),
  );
  return () => void (isOver = true);
}

function log(logger: Logger, what: string, error: unknown): void {
  try {
    what += ": " + String((error as Error | null)?.message ?? error);
  } catch {
    // What is thrown may have no text.
  }
  logger.error(what, { error });
}

/** Listens for errors on behalf of the loggers that are added. */
function loggersOf(process: Process): Set<Logger> {
  const loggers = new Set<Logger>();
  const end = async (error: unknown) => {
    showError(error);
    await Promise.all([...loggers].map((one) => one.flush(lastMs)));
    process.exit(1);
  };
  // Another listener decides on what becomes of the program, and may count those beside it: ours comes when there is
  // none. Deno 2.1 tells a monitor nothing.
  const own = host.Deno ? 1 : 0;
  process.on(own ? uncaughtName : `${uncaughtName}Monitor`, (error: unknown) => {
    for (const one of loggers) log(one, "uncaught error", error);
    if (process.listenerCount(uncaughtName) !== own) return;
    if (own) end(error);
    else process.on(uncaughtName, end);
  });
  return loggers;
}
