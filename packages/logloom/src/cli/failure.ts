/** An expected failure. Its message is enough, so no stack trace is shown. */
export class Failure extends Error {
  override name = "Failure";
}

/** The exit codes of all commands; `ship` and `doctor` say more in their help. */
export const exitCodes = { done: 0, failed: 1, rejected: 2, interrupted: 130 } as const;

/** Returns the message of an error as a sentence. */
export function sentence(error: unknown): string {
  if (error instanceof Failure) return error.message;
  const message = error instanceof Error ? error.message : String(error);
  if (/no space left|ENOSPC|os error 28/i.test(message)) {
    return "the disk is full; free some space and run the command again.";
  }
  return `${message} (LOGLOOM_DEBUG=1 shows where)`;
}
