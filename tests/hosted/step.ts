import { findRuntime, hostedVersion } from "../../local/runtime.ts";
import {
  type Context,
  denoTests,
  quickTests,
  type Step,
  type StepResult,
  sum,
} from "../runner/step.ts";
import { installClients } from "../mcp/step.ts";
import { withoutSecrets } from "../secrets/step.ts";

/** What the hosted runtime could break; `npm test -- long` runs all that goes through the front door. */
const front = ["api_keys", "authentication", "ingest", "quotas", "health", "loki_read"];
const throughTheFrontDoor = front.map((name) => `tests/e2e/${name}_test.ts`);

/** Those of the notifications that need not wait for a round of alerts. */
const quickNotifications = "--filter=/given up before|nobody but|is gone/";

export const hosted: Step = {
  name: "hosted",
  title: "on the Deno of hosted functions, three processes of each behind the gateway",
  needsStack: true,
  isBeside: true,
  run: (context) => withoutSecrets(context, asHosted(context)),
};

export const hostedAll: Step = {
  name: "hosted-all",
  title: "everything through the front door, and every fault, served as hosted",
  needsStack: true,
  isBeside: true,
  run: (context) => withoutSecrets(context, allAsHosted(context)),
};

/** The functions' unit tests, and the tests of what they serve, as they run on a hosted project. */
async function asHosted(context: Context): Promise<StepResult> {
  const program = await serveAsHosted(context);
  await installClients((step) => console.log(`  ${step} …`));
  if (context.files.length > 0) return await denoTests([], context);
  const { stack } = context;
  return sum([
    await denoTests(["supabase/functions"], { files: [], stack: undefined }, { program }),
    await denoTests([], { files: throughTheFrontDoor, stack }),
    await denoTests(["tests/mcp"], { files: [], stack }),
    await denoTests([], { files: ["tests/e2e/alerts_test.ts"], stack }, {
      options: [quickNotifications],
    }),
    await denoTests(await quickTests("tests/hosted"), { files: [], stack }),
  ]);
}

async function allAsHosted(context: Context): Promise<StepResult> {
  await serveAsHosted(context);
  if (context.files.length > 0) return await denoTests([], context);
  const long = ["tests/e2e/long", "tests/faults/long", "tests/hosted/long"];
  const quick = [...await quickTests("tests/e2e"), ...await quickTests("tests/faults")];
  return await denoTests([...long, ...quick], context);
}

/** Serves the stack's functions on the Deno of hosted ones, and gives back that program. */
async function serveAsHosted({ stack }: Context): Promise<string> {
  if (!stack) throw new Error("the functions need a stack to be served in");
  const runtime = await findRuntime(hostedVersion, (step) => console.log(`  ${step} …`));
  await stack.serve({ runtime, processes: 3 });
  return runtime.program;
}
