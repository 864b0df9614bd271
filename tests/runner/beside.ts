import type { StackName } from "../../local/stack.ts";
import { runApart } from "./apart.ts";
import type { Row } from "./report.ts";
import type { Step } from "./step.ts";

/** A step takes half of it where all run beside each other. What takes longer hangs, and is ended and shown. */
const longest = 30 * 60_000;

/** Steps that need nothing of the others: each runs as a process of its own, as soon as somebody works on it. */
export class Beside {
  // As it is now: what the stack of the tests will set is not meant for these.
  readonly #env = Deno.env.toObject();
  readonly #ended = new AbortController();
  readonly #steps: Step[];
  readonly #said: string[] = [];
  #isScratchTaken = false;

  constructor(steps: Step[]) {
    this.#steps = steps;
  }

  /** Runs one step after the other on a stack until none is left; without a stack those that start none. */
  async work(stack?: StackName): Promise<Row[]> {
    const rows: Row[] = [];
    while (!this.#ended.signal.aborted) {
      const at = this.#steps.findIndex(({ isPure, isOnScratch }) =>
        (stack || isPure) && !(isOnScratch && this.#isScratchTaken)
      );
      if (at < 0) break;
      const [step] = this.#steps.splice(at, 1);
      if (step.isOnScratch) this.#isScratchTaken = true;
      rows.push(await this.#run(step, stack));
      if (step.isOnScratch) this.#isScratchTaken = false;
    }
    return rows;
  }

  /** Prints what the steps that have ended said. */
  show(): void {
    for (const text of this.#said.splice(0)) console.log(text);
  }

  end(): void {
    this.#ended.abort();
  }

  async #run(step: Step, stack?: StackName): Promise<Row> {
    console.log(`  ${step.name} begins, beside`);
    const tooLong = AbortSignal.timeout(longest);
    const { row, text } = await runApart(step, {
      env: { ...this.#env, ...stack && { LOGLOOM_TEST_STACK: stack } },
      signal: AbortSignal.any([this.#ended.signal, tooLong]),
    });
    this.#said.push(text);
    const verdict = row.failed > 0 ? "FAILED" : "ended";
    console.log(`  ${step.name} ${verdict}, beside, after ${row.seconds.toFixed(0)} s`);
    if (!tooLong.aborted) return row;
    const words = `It did not end within ${longest / 60_000} minutes, and was ended.`;
    return { ...row, failed: Math.max(row.failed, 1), failures: [...row.failures ?? [], words] };
  }
}
