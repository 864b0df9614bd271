import { denoTests, type Step } from "../runner/step.ts";

export const memory: Step = {
  name: "memory",
  title: "what a backend needs for itself, whatever is stored",
  needsStack: true,
  run: (context) => denoTests(["tests/memory"], context),
};
