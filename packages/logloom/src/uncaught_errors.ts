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
/** Shared by all copies of this module, because `logloom/tenants` is bundled with its own copy. */
const loggersName = Symbol.for("logloom");

/** Logs uncaught errors. They still end a server's program, but its events are sent first. */
export function captureErrors(logger: Logger): () => void {
  const process = server;
  if (process?.on) {
    const shared = host as { [loggersName]?: Set<Logger> };
    const loggers = shared[loggersName] ??= loggersOf(process);
    loggers.add(logger);
    return () => void loggers.delete(logger);
  }

  // A flag, because a Worker may not create an AbortController while it starts.
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
    // The thrown value may not be convertible to text.
  }
  logger.error(what, { error });
}

/** Returns the loggers that get the process's uncaught errors. Others can be added. */
function loggersOf(process: Process): Set<Logger> {
  const loggers = new Set<Logger>();
  const end = async (error: unknown) => {
    showError(error);
    await Promise.all([...loggers].map((one) => one.flush(lastMs)));
    process.exit(1);
  };
  // If the program has its own listener, that one decides what happens and may count the others, so ours is added only
  // if there is none. Deno 2.1 calls no monitor.
  const own = host.Deno ? 1 : 0;
  process.on(own ? uncaughtName : `${uncaughtName}Monitor`, (error: unknown) => {
    for (const one of loggers) log(one, "uncaught error", error);
    if (process.listenerCount(uncaughtName) !== own) return;
    if (own) end(error);
    else process.on(uncaughtName, end);
  });
  return loggers;
}
