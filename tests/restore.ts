import { startReleasedStack } from "./migrations/stack.ts";
import { type Context, denoTests, type StepResult, sum } from "./step.ts";

/** Who may see what, and that events get in and out, in the database that was restored. */
const contract = ["isolation", "api_keys", "authentication", "ingest", "audit"]
  .map((name) => `tests/e2e/${name}_test.ts`);

export async function restore({ files }: Context): Promise<StepResult> {
  const stack = await startReleasedStack("checkout");
  try {
    return sum([
      await denoTests(["tests/restore"], { files: [], stack }),
      await denoTests([], { files: files.length > 0 ? files : contract, stack }),
    ]);
  } finally {
    await stack.stop();
  }
}
