import { startReleasedStack } from "../runner/released_stack.ts";
import { type Context, denoTests, type Step, type StepResult } from "../runner/step.ts";

export const migrations: Step = {
  name: "migrations",
  title: "schemas and migrations agree, and an upgrade under load loses nothing",
  needsStack: false,
  isBeside: true,
  isOnScratch: true,
  run: upgrade,
};

async function upgrade({ files }: Pick<Context, "files">): Promise<StepResult> {
  // A project may have any DateStyle. The migration is the same in each.
  Deno.env.set("LOGLOOM_DATESTYLE", "SQL, DMY");
  const released = await startReleasedStack();
  try {
    Deno.env.set("LOGLOOM_PROJECT", released.project);
    return await denoTests(["tests/migrations"], { files, stack: released });
  } finally {
    await released.stop();
  }
}
