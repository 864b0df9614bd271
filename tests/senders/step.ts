import {
  chosenTests,
  type Context,
  denoTests,
  type Step,
  type StepResult,
} from "../runner/step.ts";
import { installSenders } from "./packages.ts";

export const senders: Step = {
  name: "senders",
  title: "three senders of other services, as their pages show them",
  needsStack: true,
  run: async (context) => {
    if (context.files.length > 0) return await send("all", context);
    return await send("few", { ...context, files: representative });
  },
};

export const sendersAll: Step = {
  name: "senders-all",
  title: "every sender, each also through an outage",
  needsStack: true,
  isBeside: true,
  run: async (context) => {
    const files = context.files.length > 0
      ? context.files
      : await chosenTests(["tests/senders"], "_test.ts");
    return await send("all", { ...context, files }, { LOGLOOM_LONG: "1" });
  },
};

const representative = ["otlp", "elasticsearch_bulk", "curl"]
  .map((name) => `tests/senders/${name}_test.ts`);

async function send(
  which: "few" | "all",
  context: Context,
  env: Record<string, string> = {},
): Promise<StepResult> {
  await installSenders(which, (step) => console.log(`  ${step} …`));
  return await denoTests([], context, { env });
}
