import {
  type Context,
  denoTests,
  type Step,
  type StepResult,
  sum,
} from "../../tests/runner/step.ts";
import { startReleasedStack } from "../../tests/runner/released_stack.ts";
import { startTestStack } from "../../tests/runner/test_stack.ts";
import { findSystem } from "../../local/system.ts";

export const citus: Step = {
  name: "citus",
  title: "sharded over a coordinator and two workers, where Citus is installed",
  needsStack: false,
  isBeside: true,
  isOnScratch: true,
  run: onNodes,
};

/** What of the other steps is told by where the records are; the rest does not reach them. */
const operations = [
  "alerts",
  "health",
  "ingest",
  "ingest_tokens",
  "isolation",
  "quotas",
  "portal",
  "read",
  "retention",
  "search",
  "secret_key",
  "usage",
  "views",
].map((name) => `tests/e2e/${name}_test.ts`);

const upgradeTest = "citus/tests/upgrade_test.ts";
/** It looks at the tables as they were sharded, so it comes before all others on its stack. */
const sharding = "citus/tests/enable_citus_test.ts";
/** Of nodes, what other steps tell of one server. */
const reading = ["sealed", "turns"].map((name) => `citus/tests/${name}_test.ts`);

const kills = [
  ...["kill", "poison", "sealing_kill"].map((name) => `tests/faults/${name}_test.ts`),
  "citus/tests/nodes_test.ts",
  "citus/tests/operations_test.ts",
];

/** The same schema sharded over nodes. Without Citus, which no package registry has, it only says so. */
async function onNodes({ files }: Context): Promise<StepResult> {
  if (!(await findSystem())?.hasCitus) {
    const reason = "Citus is not installed (docs/guides/scaling.md says how to try it)";
    return { passed: 0, failed: 0, skipped: 1, notRun: [reason] };
  }
  // As docs/guides/scaling.md asks of every node.
  Deno.env.set("LOGLOOM_TIMEZONE", "UTC");
  const results: StepResult[] = [];
  if (files.length === 0 || files.includes(upgradeTest)) results.push(await upgrade());
  const others = files.filter((path) => path !== upgradeTest && path !== sharding);
  if (files.length === 0) results.push(await sharded([sharding, ...reading, ...operations], kills));
  else if (others.length > 0 || files.includes(sharding)) {
    results.push(await sharded([sharding, ...others]));
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

async function sharded(...runs: string[][]): Promise<StepResult> {
  const stack = await startTestStack("scratch", 2);
  try {
    const results: StepResult[] = [];
    for (const files of runs) {
      results.push(await denoTests([], { files, stack }, { env: { LOGLOOM_IS_SHARDED: "1" } }));
    }
    return sum(results);
  } finally {
    await stack.stop();
  }
}
