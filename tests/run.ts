import { startTestStack, type TestStack } from "./test_stack.ts";
import type { Step, StepResult } from "./step.ts";
import { longSteps, steps } from "./steps.ts";
import { Failure, run } from "../local/failure.ts";
import { removeIfThere } from "../local/files.ts";

// npm test [-- STEP [FILE…]]: everything, or one step of it, with a stack of its own where it needs one.
// npm test -- long: what takes too long to be run at every change.
await run(async () => {
  const [wanted, ...files] = Deno.args;
  const chosen = choose(wanted);
  if (chosen.length === 0) {
    const names = [...steps, ...longSteps].map((step) => step.name).join(", ");
    throw new Failure(`There is no test step ${wanted}; there are ${names}.`);
  }

  let stack: TestStack | undefined;
  const rows: Row[] = [];
  try {
    for (const step of chosen) {
      if (step.needsStack && !stack) {
        console.log("\n== test stack");
        stack = await startTestStack();
      }
      console.log(`\n== ${step.name}: ${step.title}`);
      const began = performance.now();
      const result = await step.run({ files, stack });
      rows.push({ name: step.name, seconds: (performance.now() - began) / 1000, ...result });
    }
  } finally {
    await stack?.stop();
  }

  const failed = report(rows);
  if (failed) Deno.exit(1);
  if (stack) await removeIfThere(stack.stack.folder);
});

function choose(wanted: string | undefined): Step[] {
  if (wanted === undefined) return steps;
  if (wanted === "long") return longSteps;
  return [...steps, ...longSteps].filter((step) => step.name === wanted);
}

interface Row extends StepResult {
  name: string;
  seconds: number;
}

function report(rows: Row[]): boolean {
  console.log("\n== summary\n");
  for (const { name, passed, failed, seconds } of rows) {
    const verdict = failed > 0 ? "FAILED" : passed > 0 ? "ok" : "nothing to test";
    console.log(
      `  ${name.padEnd(10)} ${`${passed} passed`.padStart(13)} ${
        `${failed} failed`.padStart(11)
      } ` +
        `${seconds.toFixed(1).padStart(8)} s   ${verdict}`,
    );
  }
  const passed = rows.reduce((sum, row) => sum + row.passed, 0);
  const failed = rows.reduce((sum, row) => sum + row.failed, 0);
  console.log(`\n${passed} passed, ${failed} failed`);
  return failed > 0 || passed === 0;
}
