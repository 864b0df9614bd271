import { type Context, denoTests, type Step, type StepResult, sum } from "../runner/step.ts";
import { startReleasedStack } from "../runner/released_stack.ts";
import { startTestStack } from "../runner/test_stack.ts";
import { findSystem } from "../../local/system.ts";

export const citus: Step = {
  name: "citus",
  title: "spread over a coordinator and two workers, where Citus is installed",
  needsStack: false,
  isBeside: true,
  run: onNodes,
};

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

const upgradeTest = "tests/citus/upgrade_test.ts";
/** It spreads the tables, so it comes before all others on its stack. */
const spreading = "tests/citus/enable_citus_test.ts";
/** Of nodes, what other steps tell of one server. */
const reading = ["sealed", "turns"].map((name) => `tests/citus/${name}_test.ts`);

const kills = [
  ...["kill", "poison", "sealing_kill"].map((name) => `tests/faults/${name}_test.ts`),
  "tests/citus/nodes_test.ts",
  "tests/citus/operations_test.ts",
];

/** The same schema spread over nodes. Without Citus, which no package registry has, it only says so. */
async function onNodes({ files }: Context): Promise<StepResult> {
  if (!(await findSystem())?.hasCitus) {
    const skipped = "Citus is not installed";
    console.log(`${skipped}: docs/guides/scaling.md says how to try it.`);
    return { passed: 0, failed: 0, skipped };
  }
  // As docs/guides/scaling.md asks of every node.
  Deno.env.set("LOGLOOM_TIMEZONE", "UTC");
  const results: StepResult[] = [];
  if (files.length === 0 || files.includes(upgradeTest)) results.push(await upgrade());
  const others = files.filter((path) => path !== upgradeTest && path !== spreading);
  if (files.length === 0) results.push(await spread([spreading, ...reading, ...operations], kills));
  else if (others.length > 0 || files.includes(spreading)) {
    results.push(await spread([spreading, ...others]));
  }
  return sum(results);
}

/** From the released migrations to those of the checkout, on nodes. */
async function upgrade(): Promise<StepResult> {
  const released = await startReleasedStack("released", 2);
  try {
    Deno.env.set("LOGLOOM_PROJECT", released.project);
    return await denoTests([], { files: [upgradeTest], stack: released });
  } finally {
    await released.stop();
  }
}

async function spread(...runs: string[][]): Promise<StepResult> {
  const stack = await startTestStack("scratch", 2);
  try {
    const results: StepResult[] = [];
    for (const files of runs) {
      results.push(await denoTests([], { files, stack }, { env: { LOGLOOM_IS_SPREAD: "1" } }));
    }
    return sum(results);
  } finally {
    await stack.stop();
  }
}
