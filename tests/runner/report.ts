import type { StepResult } from "./step.ts";

/** What a step came to. */
export interface Row extends StepResult {
  name: string;
  seconds: number;
}

/** Where each failure begins in what is printed. */
export const failureMark = "\n== failed in ";

/** Prints what each step came to, and tells whether one failed. */
export function report(rows: Row[]): boolean {
  console.log("\n== summary\n");
  for (const { name, passed, failed, skipped, seconds } of rows) {
    const verdict = failed > 0 ? "FAILED" : passed > 0 ? "ok" : skipped ?? "nothing to test";
    console.log(
      `  ${name.padEnd(11)} ${`${passed} passed`.padStart(13)} ${
        `${failed} failed`.padStart(11)
      } ` +
        `${seconds.toFixed(1).padStart(8)} s   ${verdict}`,
    );
  }
  const passed = rows.reduce((sum, row) => sum + row.passed, 0);
  const failed = rows.reduce((sum, row) => sum + row.failed, 0);
  console.log(`\n${passed} passed, ${failed} failed`);
  // Last, because whoever keeps a part of what was printed keeps its end.
  for (const { name, failures = [] } of rows) {
    for (const failure of failures) console.log(`${failureMark}${name}: ${failure}`);
  }
  return failed > 0 || passed === 0 && !rows.some(({ skipped }) => skipped);
}
