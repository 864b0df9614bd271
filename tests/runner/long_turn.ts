import { command } from "../../local/run_command.ts";
import { Failure } from "../../local/exit_on_failure.ts";
import { exists } from "../../local/files.ts";
import { checkout } from "../../local/stack.ts";
import type { Work } from "./run_in_parallel.ts";
import { concerns, divisions, longParts, type Part } from "./long_parts.ts";
import { longSteps } from "./steps.ts";

// Continuous integration has no time for all long tests, so each merge runs some parts. tests/long-turn.json lists the
// turns. The next merge runs the last. A part is only in its newest turn. `npm test -- --next-turn` writes the file.

export interface Turn {
  /** The commit before the turn. */
  after: string;
  parts: string[];
}

/** The estimated seconds that a turn may take on three stacks. */
export const turnSeconds = 360;
const stacks = 3;
/** Every part runs within this many merges. */
export const landings = 10;

/** The parts of each step run together, on one stack. */
function groups(parts: Part[]): Map<string, Part[]> {
  return Map.groupBy(parts, ({ step }) => step);
}

function secondsOf(group: Part[]): number {
  return group.reduce((sum, { seconds }) => sum + seconds, divisions[group[0].step].setup);
}

/** Estimates the time of parts that run in parallel. Steps that share the stack "scratch" run one after the other. */
export function wallSeconds(parts: Part[], on = stacks): number {
  const lanes: number[] = new Array(on).fill(0);
  const all = [...groups(parts).values()].map((group) => ({ group, seconds: secondsOf(group) }));
  const isOnScratch = ({ group: [{ step }] }: { group: Part[] }) =>
    longSteps.find(({ name }) => name === step)?.isOnScratch ?? false;
  const scratch = all.filter(isOnScratch).reduce((sum, { seconds }) => sum + seconds, 0);
  const others = all.filter((one) => !isOnScratch(one)).map(({ seconds }) => seconds);
  for (const seconds of [scratch, ...others].sort((a, b) => b - a)) {
    lanes[lanes.indexOf(Math.min(...lanes))] += seconds;
  }
  return Math.max(...lanes);
}

/**
 * Adds the next turn: first new and changed parts, as many as one stack can run; then the tenth of all parts that ran
 * longest ago; then more changed parts, and more of the rest.
 */
export function nextTurn(
  parts: Part[],
  turns: Turn[],
  { after, changedSince }: { after: string; changedSince(turn: Turn): string[] },
): Turn[] {
  const changed = turns.map(changedSince);
  const at = ({ name }: Part) => turns.findLastIndex((turn) => turn.parts.includes(name));
  const byAge = parts.toSorted((a, b) => at(a) - at(b));
  const changedParts = byAge.filter((part) => at(part) < 0 || concerns(changed[at(part)], part));
  const chosen = new Set<Part>();
  const take = (candidates: Part[], enough = Infinity, on = stacks) => {
    let taken = 0;
    for (const part of candidates) {
      if (taken >= enough) return;
      if (wallSeconds([...chosen, part], on) > turnSeconds) continue;
      chosen.add(part);
      taken += part.seconds;
    }
  };
  take(changedParts, Infinity, 1);
  take(byAge, sum(parts) / landings);
  take(changedParts);
  take(byAge);
  const names = (wanted: (part: Part) => boolean) => parts.filter(wanted).map(({ name }) => name);
  const before = turns.map((turn, n) => ({
    ...turn,
    parts: names((part) => !chosen.has(part) && at(part) === n),
  }));
  return [
    ...before.filter((turn) => turn.parts.length > 0),
    { after, parts: names((part) => chosen.has(part)) },
  ];
}

function sum(parts: Part[]): number {
  return parts.reduce((total, { seconds }) => total + seconds, 0);
}

const file = "tests/long-turn.json";

/** npm test -- --next-turn: writes the next turn, to be committed before a merge. */
export async function takeNextTurn(): Promise<void> {
  const parts = await longParts();
  const committed = await git("show", `HEAD:${file}`);
  const turns: Turn[] = committed ? JSON.parse(committed) : [];
  const changes = new Map<string, string[]>();
  for (const { after } of turns) {
    const paths = await git("diff", "--name-only", after, "HEAD");
    // If the commit is unknown, everything counts as changed.
    changes.set(after, paths === undefined ? parts.flatMap(filesOf) : paths.split("\n"));
  }
  const next = nextTurn(parts, turns, {
    after: (await git("rev-parse", "HEAD") ?? "").trim(),
    changedSince: ({ after }) => changes.get(after) ?? [],
  });
  await Deno.writeTextFile(`${checkout}/${file}`, `${JSON.stringify(next, null, 2)}\n`);
  const chosen = partsOf(next, parts);
  console.log(chosen.map(({ name }) => `  ${name}`).join("\n"));
  console.log(
    `\nThe next merge runs these ${chosen.length} of ${parts.length} parts. Commit ${file}.`,
  );
}

const filesOf = ({ file, step }: Part) => [...divisions[step].sources, file ?? ""];

function partsOf(turns: Turn[], parts: Part[]): Part[] {
  return parts.filter(({ name }) => turns.at(-1)?.parts.includes(name));
}

/** Returns the steps of the turn, each with its files: npm test -- turn. */
export async function worksOfTurn(): Promise<Work[]> {
  const turns = await exists(`${checkout}/${file}`)
    ? JSON.parse(await Deno.readTextFile(`${checkout}/${file}`))
    : [];
  const parts = partsOf(turns, await longParts());
  if (parts.length === 0) throw new Failure(`${file} has no turn: run npm test -- --next-turn.`);
  return [...groups(parts).values()]
    .sort((a, b) => secondsOf(b) - secondsOf(a))
    .flatMap((group) => {
      const [{ step: name }] = group;
      const step = longSteps.find((step) => step.name === name);
      if (!step) return [];
      const files = [...new Set(group.flatMap(({ file }) => file ?? []))];
      return { ...step, files, shares: sharesOf(group), env: divisions[name].env };
    });
}

/** Returns the shares of each file, such as 1/5 and 3/5; files that run as a whole are left out. */
export function sharesOf(parts: Part[]): Record<string, string[]> {
  const shares: Record<string, string[]> = {};
  for (const { file, share } of parts) {
    if (file && share) (shares[file] ??= []).push(share);
  }
  return shares;
}

/** Returns the output of git; undefined if it fails, as in a clone without history. */
async function git(...args: string[]): Promise<string | undefined> {
  return await command(["git", ...args], { cwd: checkout, failure: "git" }).catch(() => undefined);
}
