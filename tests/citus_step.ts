import { type Context, denoTests, type StepResult, sum } from "./step.ts";
import { startTestStack } from "./test_stack.ts";
import { findSystem } from "../local/system.ts";

/** What of the other steps is told by where the records are; the rest does not reach them. */
const operations = [
  "alerts",
  "health",
  "ingest",
  "isolation",
  "quotas",
  "retention",
  "search",
  "usage",
].map((name) => `tests/e2e/${name}_test.ts`);

const kills = [
  ...["kill", "poison", "sealing_kill"].map((name) => `tests/faults/${name}_test.ts`),
  "tests/citus/nodes_test.ts",
  "tests/citus/operations_test.ts",
];

/** The same schema spread over nodes. Without Citus, which no package registry has, it only says so. */
export async function citus({ files }: Context): Promise<StepResult> {
  if (!(await findSystem())?.hasCitus) {
    const skipped = "Citus is not installed";
    console.log(`${skipped}: docs/scaling.md says how to try it.`);
    return { passed: 0, failed: 0, skipped };
  }
  // As docs/scaling.md asks of every node.
  Deno.env.set("LOGLOOM_TIMEZONE", "UTC");
  const stack = await startTestStack("scratch", 2);
  try {
    const run = (files: string[]) =>
      denoTests([], { files, stack }, "deno", [], { LOGLOOM_IS_SPREAD: "1" });
    // Spreads the tables, so it comes first, before files that were named too.
    const first = "tests/citus/enable_citus_test.ts";
    const named = files.filter((file) => file !== first);
    if (files.length > 0) return await run([first, ...named]);
    const results = [await run([first, ...operations])];
    results.push(await run(kills));
    return sum(results);
  } finally {
    await stack.stop();
  }
}
