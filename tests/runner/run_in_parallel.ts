import type { StackName } from "../../local/stack.ts";
import { runApart } from "./run_in_process.ts";
import type { Row } from "./report.ts";
import { outOfTime, type Step, turnName, type TurnOfStep } from "./step.ts";

/** A step, or some of its files. */
export interface Work extends Step, Partial<Pick<TurnOfStep, "shares">> {
  files?: string[];
  env?: Record<string, string>;
}

/** The minutes in which work may begin, and after which running work counts as hanging and is ended. */
export interface Limits {
  begin: number;
  end: number;
}

/** Minutes. A step that takes longer in a parallel run hangs and is ended. Every step takes at most half of this. */
const longest = 30;

/** Runs independent steps, each in a process of its own. */
export class Beside {
  // A copy of the variables, because the tests' stack will change them.
  readonly #env = Deno.env.toObject();
  readonly #ended = new AbortController();
  readonly #steps: Work[];
  readonly #said: string[] = [];
  readonly #until: number;
  readonly #end?: AbortSignal;
  readonly #minutes: number;
  #isScratchTaken = false;

  constructor(steps: Work[], limits?: Limits) {
    this.#steps = steps;
    this.#until = limits ? Date.now() + limits.begin * 60_000 : Infinity;
    this.#end = limits && AbortSignal.timeout(limits.end * 60_000);
    this.#minutes = limits?.end ?? longest;
  }

  /** Runs one step after the other on a stack; without a stack, only steps that start none. */
  async work(stack?: StackName): Promise<Row[]> {
    const rows: Row[] = [];
    while (!this.#ended.signal.aborted) {
      const at = this.#steps.findIndex(({ isPure, isOnScratch }) =>
        (stack || isPure) && !(isOnScratch && this.#isScratchTaken)
      );
      if (at < 0) break;
      const [step] = this.#steps.splice(at, 1);
      if (Date.now() > this.#until) {
        rows.push({ name: step.name, seconds: 0, ...outOfTime(step.files?.join(", ") ?? "it") });
        continue;
      }
      if (step.isOnScratch) this.#isScratchTaken = true;
      rows.push(await this.#run(step, stack));
      if (step.isOnScratch) this.#isScratchTaken = false;
    }
    return rows;
  }

  /** Prints the output of the steps that have ended. */
  show(): void {
    for (const text of this.#said.splice(0)) console.log(text);
  }

  end(): void {
    this.#ended.abort();
  }

  async #run(step: Work, stack?: StackName): Promise<Row> {
    console.log(`  ${step.name} begins, beside`);
    const tooLong = this.#end ?? AbortSignal.timeout(longest * 60_000);
    const { row, text } = await runApart(step, {
      env: {
        ...this.#env,
        ...step.env,
        ...stack && { LOGLOOM_TEST_STACK: stack },
        ...step.shares && {
          [turnName]: JSON.stringify({ until: this.#until, shares: step.shares }),
        },
      },
      signal: AbortSignal.any([this.#ended.signal, tooLong]),
    });
    this.#said.push(text);
    if (this.#end) this.show();
    const verdict = row.failed > 0 ? "FAILED" : "ended";
    console.log(`  ${step.name} ${verdict}, beside, after ${row.seconds.toFixed(0)} s`);
    if (!tooLong.aborted) return row;
    const words = `It did not end within ${this.#minutes} minutes, and was ended.`;
    return { ...row, failed: Math.max(row.failed, 1), failures: [...row.failures ?? [], words] };
  }
}
