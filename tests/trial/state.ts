import { checkout } from "../../local/stack.ts";
import type { Tally } from "../support/trial_counts.ts";

/** What a trial came to so far. It is kept after each turn, so that a trial goes on where it was ended. */
export interface State {
  commit: string;
  began: string;
  seconds: number;
  reached: Tally;
  /** Turns that failed, each with how it is repeated. */
  disagreements: string[];
}

// Beside the stack's folder, which each start removes.
const file = `${checkout}/.logloom/trial.json`;

/** The state of a trial of this commit that was ended before, or of a new one. */
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
