import { walk } from "../../local/list_files.ts";
import { advisors } from "../advisors/step.ts";
import { archive } from "../archive/step.ts";
import { citus } from "../../citus/tests/step.ts";
import { consoleAll, consoleJourneys } from "../console/step.ts";
import { frontDoor, functionTests, hostedAll } from "../hosted/step.ts";
import { interleavings, interleavingsAll } from "../interleavings/step.ts";
import { memory } from "../memory/step.ts";
import { migrations } from "../migrations/step.ts";
import { model, modelAll } from "../model/step.ts";
import { npmPackage } from "../package/step.ts";
import { pgtap } from "../pgtap/step.ts";
import { restore } from "../restore/step.ts";
import { secrets } from "../secrets/step.ts";
import { senders, sendersAll } from "../senders/step.ts";
import { site } from "../site/step.ts";
import { sql } from "../sql/step.ts";
import { check, type Context, denoTests, type Step, type StepResult, sum } from "./step.ts";

/** Quick steps come first, then parallel steps, the longest first. */
export const steps: Step[] = [
  {
    name: "format",
    title: "deno fmt --check",
    needsStack: false,
    run: ({ files }) => check(["deno", "fmt", "--check", ...files]),
  },
  {
    name: "lint",
    title: "deno lint",
    needsStack: false,
    run: ({ files }) => check(["deno", "lint", ...files]),
  },
  {
    name: "types",
    title: "deno check",
    needsStack: false,
    run: async ({ files }) =>
      await check(["deno", "check", ...(files.length ? files : await typeScript())]),
  },
  sql,
  frontDoor,
  model,
  migrations,
  citus,
  {
    name: "unit",
    title: "command line, package, stack and functions, each by itself",
    needsStack: false,
    isBeside: true,
    isPure: true,
    run: units,
  },
  site,
  {
    name: "db-lint",
    title: "supabase db lint",
    needsStack: true,
    run: ({ stack }) =>
      check([
        "supabase",
        "db",
        "lint",
        `--remote=${stack?.stack.databaseUrl}`,
        "--level=warning",
        "--fail-on=error",
      ]),
  },
  advisors,
  pgtap,
  {
    name: "query",
    title: "random queries, by the compiler and by a plain evaluator; random records, sealed",
    needsStack: true,
    run: (context) => denoTests(["tests/query", "tests/sealing"], context),
  },
  interleavings,
  consoleJourneys,
  senders,
  secrets,
];

/** Steps that take too long for every change: `npm test -- long`. */
export const longSteps: Step[] = [
  // Parallel steps first, beginning with those that take longest and mostly wait.
  archive,
  sendersAll,
  hostedAll,
  modelAll,
  {
    name: "guest",
    title: "a project of somebody else, before, with and after Logloom",
    needsStack: false,
    isBeside: true,
    isOnScratch: true,
    run: (context) => denoTests(["tests/guest"], context),
  },
  restore,
  consoleAll,
  npmPackage,
  interleavingsAll,
  memory,
  {
    name: "chaos",
    title: "kills and cuts at random, under load",
    needsStack: true,
    isBeside: true,
    run: (context) => denoTests(["tests/chaos"], context),
  },
];

async function units({ files }: Context): Promise<StepResult> {
  const ofFunctions = files.filter((path) => path.startsWith("supabase/functions"));
  const others = files.filter((path) => !ofFunctions.includes(path));
  const isAll = files.length === 0;
  return sum([
    ...isAll || others.length > 0
      ? [await denoTests(unitTests, { files: others, stack: undefined })]
      : [],
    ...isAll || ofFunctions.length > 0 ? [await functionTests(ofFunctions)] : [],
  ]);
}

const unitTests = [
  "cli",
  "local",
  "citus/local",
  "types",
  "packages/logloom/src",
  "tests/unit",
  "tests/interleavings",
  "tests/patterns",
  "tests/sql",
];

async function typeScript(): Promise<string[]> {
  // Other folders have their own packages and are checked once these are installed.
  const sources = ["local", "cli", "tests", "types", "citus", "bench", "supabase/functions"];
  const others = (await walk(sources)).filter((path) =>
    path.endsWith(".ts") && !/^tests\/(archive|console|mcp|package)\//.test(path)
  );
  // The package's other files are checked when it is built.
  const ofPackage = await walk(["packages/logloom/src"]);
  return [...others, ...ofPackage.filter((path) => path.endsWith("_test.ts"))];
}
