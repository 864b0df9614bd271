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

/** The end-to-end tests whose operations read or write records. Other tests do not depend on where records are. */
const operations = (
  "alerts health ingest ingest_tokens isolation quotas portal read retention search secret_key usage views"
).split(" ").map((name) => `tests/e2e/${name}_test.ts`);

const upgradeTest = "citus/tests/upgrade_test.ts";
/** Checks the tables right after sharding, so it runs first on its stack. */
const sharding = "citus/tests/enable_citus_test.ts";
/** Other steps run these tests on one server. */
const reading = ["sealed", "scan_slots"].map((name) => `citus/tests/${name}_test.ts`);

const kills = [
  ...["kill", "poison", "sealing_kill"].map((name) => `tests/faults/${name}_test.ts`),
  "citus/tests/nodes_test.ts",
  "citus/tests/operations_test.ts",
];

/** Runs the tests on sharded records. Skips them without Citus, which no package registry has. */
async function onNodes({ files }: Context): Promise<StepResult> {
  if (!(await findSystem())?.hasCitus) {
    const reason = "Citus is not installed (docs/guides/scaling.md says how to try it)";
    return { passed: 0, failed: 0, skipped: 1, notRun: [reason] };
  }
  // docs/guides/scaling.md asks for this on every node.
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

/** Upgrades nodes from the released migrations to those of the checkout. */
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
