import { type Context, denoTests, type Step } from "../runner/step.ts";

/** Runs random seeds for some seconds, or only MODEL_SEED if it is set. */
const runFor = (seconds: number) => (context: Context) => {
  const isNamed = ["MODEL_SEED", "MODEL_SECONDS"].some((name) => Deno.env.has(name));
  return denoTests(["tests/model"], context, {
    env: isNamed ? {} : { MODEL_SECONDS: `${seconds}` },
  });
};

export const model: Step = {
  name: "model",
  title: "random commands on the stack and on a model of it",
  needsStack: true,
  isBeside: true,
  run: runFor(60),
};

export const modelAll: Step = {
  ...model,
  name: "model-all",
  title: "the same for eight minutes",
  run: runFor(480),
};
