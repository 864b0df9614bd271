import { findRuntime, hostedVersion } from "../../local/deno_runtimes.ts";
import { installClients } from "../mcp/packages.ts";
import {
  type Context,
  denoTests,
  quickTests,
  type Step,
  type StepResult,
  sum,
} from "../runner/step.ts";
import { withoutSecrets } from "../secrets/step.ts";

export const frontDoor: Step = {
  name: "e2e",
  title: "through the front door, functions served as hosted; processes killed, bodies malformed",
  needsStack: true,
  isBeside: true,
  run: (context) => withoutSecrets(context, throughTheFrontDoor(context)),
};

export const hostedAll: Step = {
  name: "hosted-all",
  title: "what takes long through the front door, and every fault, served as hosted",
  needsStack: true,
  isBeside: true,
  run: (context) => withoutSecrets(context, allAsHosted(context)),
};

async function throughTheFrontDoor(context: Context): Promise<StepResult> {
  await serveAsHosted(context);
  await installClients((step) => console.log(`  ${step} …`));
  if (context.files.length > 0) return await denoTests([], context);
  // Faults come last, because they kill processes that the others use.
  return sum([
    await denoTests(
      [...await quickTests("tests/e2e"), "tests/mcp", ...await quickTests("tests/hosted")],
      context,
    ),
    await denoTests(await quickTests("tests/faults"), context),
  ]);
}

async function allAsHosted(context: Context): Promise<StepResult> {
  await serveAsHosted(context);
  return await denoTests(["tests/e2e/long", "tests/faults/long", "tests/hosted/long"], context);
}

/** The functions' own tests, on the Deno that they run on in a hosted project. */
export async function functionTests(files: string[] = []): Promise<StepResult> {
  const { program } = await findRuntime(hostedVersion, (step) => console.log(`  ${step} …`));
  return await denoTests(["supabase/functions"], { files, stack: undefined }, { program });
}

/**
 * Serves the stack's functions on the Deno of hosted functions, with three processes of each. A kept stack stays as it
 * is.
 */
async function serveAsHosted({ stack }: Context): Promise<void> {
  if (!stack) throw new Error("the functions need a stack to be served in");
  if (stack.isKept) return;
  const runtime = await findRuntime(hostedVersion, (step) => console.log(`  ${step} …`));
  await stack.serve({ runtime, processes: 3 });
}
