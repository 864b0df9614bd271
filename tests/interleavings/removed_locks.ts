import postgres from "postgres";
import type { Stack } from "../../local/stack.ts";
import type { System } from "../../local/system.ts";
import type { Fault } from "./database.ts";
import type { Operation } from "./operations.ts";
import { runPair } from "./run_pair.ts";
import { stepsOf } from "./permutations.ts";
import { shuffled } from "../support/random.ts";

/** How many orders of a pair are tried before a fault counts as unnoticed. */
const tries = 60;

/** The result of removing locks of two operations. */
export interface FaultRun {
  pair: string;
  /** The removed locks, and the operation of each; empty if the operations share no lock. */
  removed: string;
  /** The order that failed, and its error; empty if none failed. */
  noticed: string;
}

/**
 * Removes the locks that two operations share. First it removes all of them; if the invariant notices that, it removes
 * one at a time until the invariant notices one.
 */
export async function tryFaults(
  pair: [Operation, Operation],
  options: {
    system: System;
    stack: Stack;
    database: string;
    sql: postgres.Sql;
    folder: string;
    seed: number;
  },
): Promise<FaultRun[]> {
  const [a, b] = pair.map(({ name }) => name);
  const run = (faults: Fault[], count: number) =>
    runPair(pair, {
      ...options,
      faults,
      draw: (orders) => shuffled(orders, options.seed).slice(0, count),
      isForOneFault: true,
    });
  const { places } = await run([], 0);
  const shared = sharedLocks(places.a, places.b);
  if (shared.length === 0) return [{ pair: `${a} ${b}`, removed: "", noticed: "" }];
  const runs: FaultRun[] = [];
  const [all, ...single] = faultsOf(shared);
  for (const faults of [all, ...single]) {
    const { faults: found } = await run(faults, tries);
    const [first] = found;
    runs.push({
      pair: `${a} ${b}`,
      removed: faults === all
        ? `all that they share: ${[...new Set(shared.flat())].join(", ")}`
        : faults.map(({ side, lock }) => `${lock} of ${side === "a" ? a : b}`).join(", "),
      noticed: first ? `${stepsOf(first.order).join(" ")}: ${first.fault}` : "",
    });
    // If the invariant does not notice that all locks are missing, it does not notice that one is.
    if (faults === all ? !first : first) break;
  }
  return runs;
}

/**
 * Returns the locks that both operations take, in their order: advisory locks and row locks. Each row lock has its own
 * name.
 */
function sharedLocks(a: string[], b: string[]): [string, string][] {
  const isLock = (name: string) => !["begin", "commit", "table", "settings", "logs"].includes(name);
  return a.filter((name, n) => isLock(name) && a.indexOf(name) === n).flatMap((name) =>
    b.filter((other, n) => b.indexOf(other) === n)
      .filter((other) =>
        other === name || name.startsWith("row of ") && other.startsWith("row of ")
      )
      .map((other): [string, string] => [name, other])
  );
}

/** Lists the faults to try: first all locks of both sides, then single locks. */
function faultsOf(shared: [string, string][]): Fault[][] {
  const single = shared.flatMap(([a, b]): Fault[] => [
    { side: "a", lock: a },
    { side: "b", lock: b },
  ]).filter((fault, n, faults) =>
    faults.findIndex(({ side, lock }) => side === fault.side && lock === fault.lock) === n
  );
  return [single, ...single.map((fault) => [fault])];
}
