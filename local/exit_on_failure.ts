import { Failure, sentence as ofCommand } from "../packages/logloom/src/cli/failure.ts";

export { Failure };

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

/** Returns the message of an error, for people. */
export function sentence(error: unknown): string {
  return error instanceof Deno.errors.PermissionDenied
    ? `${error.message}. Was this checkout set up by another user?`
    : ofCommand(error);
}
