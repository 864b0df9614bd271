import { denoTests, type Step } from "../runner/step.ts";

export const site: Step = {
  name: "site",
  title: "the documentation as a site, and its links",
  needsStack: false,
  isBeside: true,
  isPure: true,
  run: (context) => denoTests(["tests/site"], context),
};
