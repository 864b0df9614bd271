import { Failure, sentence } from "../../local/exit_on_failure.ts";
import type { Row } from "./report.ts";
import { watchSharedRows } from "./shared_rows.ts";
import type { Step, StepResult } from "./step.ts";
import type { TestStack } from "./test_stack.ts";

/** Runs a step. A step that throws has failed: the other steps still run, and the summary names it. */
export async function runStep(
  step: Step,
  files: string[],
  startStack: () => Promise<TestStack>,
): Promise<Row> {
  const { name, title, needsStack } = step;
  let began = performance.now();
  const run = async (): Promise<StepResult> => {
    const stack = needsStack ? await startStack() : undefined;
    console.log(`\n== ${name}: ${title}`);
    began = performance.now();
    const leftovers = stack && await watchSharedRows(stack);
    const result = await step.run({ files, stack });
    const differences = await leftovers?.().catch((error) => [reasonOf(error)]) ?? [];
    for (const difference of differences) console.log(difference);
    return { ...result, failed: result.failed + differences.length };
  };
  const result = await run().catch((error) => ({
    passed: 0,
    failed: 1,
    failures: [reasonOf(error)],
  }));
  return { name, seconds: (performance.now() - began) / 1000, ...result };
}

function reasonOf(error: unknown): string {
  return error instanceof Error && !(error instanceof Failure) && error.stack || sentence(error);
}
