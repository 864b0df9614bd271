import { Failure, sentence } from "../failure.ts";
import type { Cli } from "../command_line.ts";
import { harmless } from "../format_lines.ts";

/** The state of a step. `left` means that the user must do it. */
export interface Look {
  readonly state: "done" | "todo" | "left";
  readonly message: string;
  /** What the user must do if the state is `left`. */
  readonly mend?: string;
}

export const done = (message: string): Look => ({ state: "done", message });
export const todo = (message: string): Look => ({ state: "todo", message });
export const left = (message: string, mend: string): Look => ({ state: "left", message, mend });

/** A step of init, upgrade or uninstall. Each can be repeated. */
export interface Step {
  readonly name: string;
  look(): Promise<Look>;
  /** Runs the step and returns what it did. */
  run(): Promise<Look>;
}

export interface Outcome extends Look {
  readonly step: string;
}

const nameWidth = "migrations".length;
/** Indents lines that continue a step's line. */
export const indent = " ".repeat(nameWidth + 11);

const signs = { done: "ok", todo: "to do", left: "LEFT" };

export function linesOf({ step, state, message, mend }: Outcome): string[] {
  return [
    `  ${signs[state].padEnd(5)}  ${step.padEnd(nameWidth)}  ${harmless(message)}`,
    ...mend === undefined ? [] : [`${indent}${harmless(mend)}`],
  ];
}

/** Finds the state of every step without changing anything. */
export async function lookAt(cli: Cli, steps: readonly Step[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const step of steps) outcomes.push({ step: step.name, ...await guarded(cli, step, "look") });
  return outcomes;
}

/** Runs the open steps in order and reports each outcome. Stops at the first failure. */
export async function runSteps(
  cli: Cli,
  steps: readonly Step[],
  say: (line: string) => void,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const step of steps) {
    cli.signal.throwIfAborted();
    // Finds the state again, because earlier steps may have changed it.
    let outcome = await guarded(cli, step, "look");
    if (outcome.state === "todo") outcome = await guarded(cli, step, "run");
    outcomes.push({ step: step.name, ...outcome });
    linesOf({ step: step.name, ...outcome }).forEach((line) => say(line));
  }
  return outcomes;
}

/** Adds the step's name to a failure. */
async function guarded(cli: Cli, step: Step, what: "look" | "run"): Promise<Look> {
  try {
    return await step[what]();
  } catch (error) {
    cli.signal.throwIfAborted();
    const again = what === "run" ? "\nThen run the same command again: it skips what is done." : "";
    throw new Failure(`${step.name}: ${sentence(error)}${again}`);
  }
}
