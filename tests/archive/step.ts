import { command } from "../../local/run_command.ts";
import { installPackages } from "../../local/npm.ts";
import { installBucket } from "../../local/processes/bucket.ts";
import { checkout } from "../../local/stack.ts";
import { walk } from "../../local/list_files.ts";
import { type Context, denoTests, type Step, type StepResult } from "../runner/step.ts";

export const archive: Step = {
  name: "archive",
  title: "days in a bucket, also in a failing one: archived, erased, restored, read by DuckDB",
  needsStack: true,
  isBeside: true,
  run: withBucket,
};

async function withBucket(context: Context): Promise<StepResult> {
  const progress = (step: string) => console.log(`  ${step} …`);
  await installBucket(progress);
  await installPackages(folder, { what: "DuckDB", progress });
  const sources = (await walk(["tests/archive"])).filter((path) => path.endsWith(".ts"));
  await command([Deno.execPath(), "check", "--quiet", ...sources], {
    cwd: checkout,
    failure: "The types of the tests of the archive are wrong",
  });
  return await denoTests(["tests/archive"], context);
}

const folder = `${checkout}/tests/archive`;
