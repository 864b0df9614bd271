import { checkout, type StackName } from "../../local/stack.ts";
import { failureMark, type Row } from "./report.ts";
import type { Step } from "./step.ts";

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
    const began = performance.now();
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--allow-all", `${checkout}/tests/run.ts`, step.name],
      clearEnv: true,
      env: { ...this.#env, ...stack && { LOGLOOM_TEST_STACK: stack } },
      signal: this.#ended.signal,
      stdin: "null",
    }).output();
    const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
    this.#said.push(text.slice(0, text.indexOf("\n== summary")));
    const counts = /^(\d+) passed, (\d+) failed$/m.exec(text);
    const [, verdict] = /0 passed +0 failed .* s {3}(.+)/.exec(text) ?? [];
    return {
      name: step.name,
      seconds: (performance.now() - began) / 1000,
      passed: Number(counts?.[1] ?? 0),
      failed: Number(counts?.[2] ?? 1),
      failures: text.split(`${failureMark}${step.name}: `).slice(1).map((failure) =>
        failure.trim()
      ),
      ...verdict && { skipped: verdict },
    };
  }
}
