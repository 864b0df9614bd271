import { checkout } from "../../local/stack.ts";
import type { Tally } from "../support/trial_counts.ts";

/** The results of a trial so far, stored after each turn, so that an interrupted trial can continue. */
export interface State {
  commit: string;
  began: string;
  seconds: number;
  reached: Tally;
  /** Failed turns, each with the command that repeats it. */
  disagreements: string[];
}

// The file is outside the stack's folder, because each start removes the folder.
const file = `${checkout}/.logloom/trial.json`;

/** Returns the state of an interrupted trial of this commit, or of a new one. */
export async function readState(commit: string): Promise<State> {
  const text = await Deno.readTextFile(file).catch(() => undefined);
  const earlier: State | undefined = text && JSON.parse(text);
  if (earlier?.commit === commit) return earlier;
  return { commit, began: new Date().toISOString(), seconds: 0, reached: {}, disagreements: [] };
}

export async function writeState(state: State): Promise<void> {
  await Deno.mkdir(`${checkout}/.logloom`, { recursive: true });
  await Deno.writeTextFile(file, `${JSON.stringify(state, null, 2)}\n`);
}

export async function forgetState(): Promise<void> {
  await Deno.remove(file).catch(() => {});
}
