import { denoTests, type Step } from "../runner/step.ts";

export const memory: Step = {
  name: "memory",
  title: "what a backend needs for itself, whatever is stored",
  needsStack: true,
  run: (context) =>
    denoTests(["tests/memory"], context, {
      env: context.isAlone ? {} : { MEMORY_SHAPES: worstShapes.join(",") },
    }),
};

/** All shapes take ten minutes: among the other long trials are those that come near the bounds. */
const worstShapes = [
  "ordinary",
  "long runs of digits",
  "150,000 numbers",
  "as many keys",
  "by the dozen",
];
