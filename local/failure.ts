/** An expected failure: a taken port, a missing tool, no network. Its message is enough, so no stack trace is shown. */
export class Failure extends Error {
  override name = "Failure";
}

/** Runs a command's body and turns a failure into a sentence and an exit code. */
export async function run(body: () => Promise<void>): Promise<never> {
  try {
    await body();
    Deno.exit(0);
  } catch (error) {
    console.error(`\nlogloom: ${sentence(error)}`);
    if (!(error instanceof Failure) && Deno.env.get("LOGLOOM_DEBUG")) console.error(error);
    Deno.exit(1);
  }
}

/** The message of an error, for people. */
export function sentence(error: unknown): string {
  if (error instanceof Failure) return error.message;
  const message = error instanceof Error ? error.message : String(error);
  if (/no space left|ENOSPC|os error 28/i.test(message)) {
    return "the disk is full; free some space and run the command again.";
  }
  if (error instanceof Deno.errors.PermissionDenied) {
    return `${message}. Was this checkout set up by another user?`;
  }
  return `${message} (LOGLOOM_DEBUG=1 shows where)`;
}
