import { slowest } from "./file_times.ts";
import type { StepResult } from "./step.ts";

/** The result of a step. */
export interface Row extends StepResult {
  name: string;
  seconds: number;
}

/** Prints the result of each step. True if one failed. */
export function report(rows: Row[]): boolean {
  console.log("\n== summary\n");
  const width = Math.max(11, ...rows.map(({ name }) => name.length));
  for (const row of rows) {
    console.log(
      `  ${row.name.padEnd(width)} ${`${row.passed} passed`.padStart(13)} ` +
        `${`${row.failed} failed`.padStart(11)} ${row.seconds.toFixed(1).padStart(8)} s   ` +
        verdict(row),
    );
  }
  const slow = slowest(rows);
  if (slow.length > 1) console.log("\nThe slowest files:\n");
  for (const { step, file, seconds } of slow.length > 1 ? slow : []) {
    console.log(`  ${seconds.toFixed(1).padStart(7)} s   ${step}: ${file}`);
  }
  console.log(`\n${closingLine(rows)}`);
  // Failures are printed last, because a log that is cut keeps its end.
  for (const { name, failures = [] } of rows) {
    for (const failure of failures) console.log(`\n== failed in ${name}: ${failure}`);
  }
  const { passed, failed, skipped } = total(rows);
  return failed > 0 || passed + skipped === 0;
}

/** Returns the result as text, with the tests that could not run and the reasons. */
export function verdict({ passed, failed, skipped = 0, notRun = [] }: StepResult): string {
  const reasons = notRun.join("; ") || "for an unknown reason";
  if (skipped === 0) return failed > 0 ? "FAILED" : passed > 0 ? "ok" : "nothing to test";
  if (passed + failed === 0) return `not run: ${reasons}`;
  return `${failed > 0 ? "FAILED" : "ok"}; ${skipped} not run: ${reasons}`;
}

export function closingLine(rows: StepResult[]): string {
  const { passed, failed, skipped } = total(rows);
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}

function total(rows: StepResult[]) {
  const of = (count: (row: StepResult) => number) => rows.reduce((sum, row) => sum + count(row), 0);
  return {
    passed: of(({ passed }) => passed),
    failed: of(({ failed }) => failed),
    skipped: of(({ skipped = 0 }) => skipped),
  };
}
