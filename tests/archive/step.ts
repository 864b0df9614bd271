import { command } from "../../local/command.ts";
import { exists } from "../../local/files.ts";
import { installBucket } from "../../local/processes/bucket.ts";
import { checkout } from "../../local/stack.ts";
import { walk } from "../../local/walk.ts";
import { type Context, denoTests, type Step, type StepResult } from "../runner/step.ts";

export const archive: Step = {
  name: "archive",
  title: "days in a bucket: archived, erased, and read by DuckDB",
  needsStack: true,
  isBeside: true,
  run: (context) => withBucket(context, /tests\/archive\/\w+_test\.ts$/),
};

export const archiveAll: Step = {
  name: "archive-all",
  title: "days in a bucket that fails: nothing lost, brought back, uninstalled",
  needsStack: true,
  isBeside: true,
  run: (context) => withBucket(context, /tests\/archive\/long\/\w+_test\.ts$/),
};

async function withBucket(context: Context, chosen: RegExp): Promise<StepResult> {
  const progress = (step: string) => console.log(`  ${step} …`);
  await installBucket(progress);
  await installReader(progress);
  const sources = (await walk(["tests/archive"])).filter((path) => path.endsWith(".ts"));
  await command([Deno.execPath(), "check", "--quiet", ...sources], {
    cwd: checkout,
    failure: "The types of the tests of the archive are wrong",
  });
  const tests = sources.filter((path) => chosen.test(path));
  return await denoTests([], {
    ...context,
    files: context.files.length > 0 ? context.files : tests,
  });
}

const folder = `${checkout}/tests/archive`;

/** Installs DuckDB, unless it is there. */
async function installReader(progress: (step: string) => void): Promise<void> {
  const lock = await Deno.readTextFile(`${folder}/package-lock.json`);
  const note = `${folder}/node_modules/.installed`;
  if (await exists(note) && await Deno.readTextFile(note) === lock) return;
  progress("Installing DuckDB");
  await command(
    ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"],
    { cwd: folder, failure: "Installing DuckDB failed" },
  );
  await Deno.writeTextFile(note, lock);
}
