import { startReleasedStack } from "../runner/released_stack.ts";
import { type Context, denoTests, type Step, type StepResult, sum } from "../runner/step.ts";

export const restore: Step = {
  name: "restore",
  title: "a dump, restored into an empty database and repaired",
  needsStack: false,
  isBeside: true,
  isOnScratch: true,
  run: dumpAndRestore,
};

/** Tests of rights, and of sending and reading events, which run in the restored database. */
const contract = ["isolation", "api_keys", "authentication", "ingest", "audit"]
  .map((name) => `tests/e2e/${name}_test.ts`);

async function dumpAndRestore({ files }: Context): Promise<StepResult> {
  const stack = await startReleasedStack("checkout", 0, { archive: true });
  try {
    const own = files.filter((path) => path.startsWith("tests/restore/"));
    const others = files.filter((path) => !own.includes(path));
    const isRestored = own.length === 0 || own.includes("tests/restore/restore_test.ts");
    return sum([
      await denoTests(["tests/restore"], { files: own, stack }),
      ...isRestored ? [await denoTests(contract, { files: others, stack })] : [],
    ]);
  } finally {
    await stack.stop();
  }
}
