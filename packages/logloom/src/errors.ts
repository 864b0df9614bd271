import { host } from "./host.ts";
import type { Logger } from "./types.ts";

interface Uncaught {
  readonly error?: unknown;
  readonly reason?: unknown;
  readonly message?: string;
}

const lastMs = 5000;

/** Logs errors that nobody caught. A server's program still ends by them, after its events are sent. */
export function captureErrors(logger: Logger): () => void {
  const log = (what: string, error: unknown) =>
    logger.error(`${what}: ${error instanceof Error ? error.message : String(error)}`, { error });

  const { process } = host;
  if (!host.document && process?.on) {
    const end = async (error: unknown) => {
      log("uncaught error", error);
      // Another listener decides on what becomes of the program.
      if (process.listenerCount?.("uncaughtException") !== 1) return;
      host.console.error(error);
      await logger.flush(lastMs);
      process.exit(1);
    };
    process.on("uncaughtException", end);
    return () => void process.off?.("uncaughtException", end);
  }

  const uncaught = ({ error, message }: Uncaught) => log("uncaught error", error ?? message);
  const unhandled = ({ reason }: Uncaught) => log("unhandled rejection", reason);
  host.addEventListener?.("error", uncaught);
  host.addEventListener?.("unhandledrejection", unhandled);
  return () => {
    host.removeEventListener?.("error", uncaught);
    host.removeEventListener?.("unhandledrejection", unhandled);
  };
}
