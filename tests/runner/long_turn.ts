import { command } from "../../local/command.ts";
import { Failure } from "../../local/exit_on_failure.ts";
import { exists } from "../../local/files.ts";
import { checkout } from "../../local/stack.ts";
import type { Work } from "./run_in_parallel.ts";
import { concerns, divisions, longParts, type Part } from "./long_parts.ts";
import { longSteps } from "./steps.ts";

// Continuous integration has no time for all long trials, so each landing tries some parts of them. tests/long-turn.json
// has the turns, the next one last; a part stands in the turn that had it last. `npm test -- --next-turn` writes it.

export interface Turn {
  /** The commit that had been reached. */
  after: string;
  parts: string[];
}

/** Seconds that a turn may take by what its parts are thought to take, on three stacks. */
export const turnSeconds = 330;
const stacks = 3;
/** All parts have their turn within so many landings. */
export const landings = 10;

/** The parts of each step run together, on one stack. */
function groups(parts: Part[]): Map<string, Part[]> {
  return Map.groupBy(parts, ({ step }) => step);
}

function secondsOf(group: Part[]): number {
  return group.reduce((sum, { seconds }) => sum + seconds, divisions[group[0].step].setup);
}

/** How long parts take beside each other; there is one stack for the steps that share "scratch". */
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
 * The turns with the next one: first what is new or changed since it was tried, as much as one stack can try; then what was not
 * tried for longest, a tenth of all; then more of what changed, and of the rest.
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

/** npm test -- --next-turn: writes the next turn, for the commit that goes before a landing. */
export async function takeNextTurn(): Promise<void> {
  const parts = await longParts();
  const committed = await git("show", `HEAD:${file}`);
  const turns: Turn[] = committed ? JSON.parse(committed) : [];
  const changes = new Map<string, string[]>();
  for (const { after } of turns) {
    const paths = await git("diff", "--name-only", after, "HEAD");
    // Of a commit that is not there everything counts as changed.
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
    `\nThe next landing tries these ${chosen.length} of ${parts.length} parts. Commit ${file}.`,
  );
}

const filesOf = ({ file, step }: Part) => [...divisions[step].sources, file ?? ""];

function partsOf(turns: Turn[], parts: Part[]): Part[] {
  return parts.filter(({ name }) => turns.at(-1)?.parts.includes(name));
}

/** The steps of the turn, each with its files: npm test -- turn. */
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

/** Which parts of a file are tried, as "1,3/5"; files that are tried as a whole have none. */
export function sharesOf(parts: Part[]): Record<string, string> {
  const shares: Record<string, string> = {};
  for (const { file, share } of parts) {
    if (!file || !share) continue;
    const [n, count] = share.split("/");
    shares[file] = `${file in shares ? `${shares[file].split("/")[0]},` : ""}${n}/${count}`;
  }
  return shares;
}

/** What git says; nothing where it fails, as in a clone without the history. */
async function git(...args: string[]): Promise<string | undefined> {
  return await command(["git", ...args], { cwd: checkout, failure: "git" }).catch(() => undefined);
}
