import postgres from "postgres";
import type { Stack } from "../../local/stack.ts";
import type { System } from "../../local/system.ts";
import type { Fault, Side } from "./database.ts";
import type { Operation } from "./operations.ts";
import { runPair } from "./pair.ts";
import { shuffled, stepsOf } from "./permutations.ts";

/** Orders of a pair that are tried before a fault counts as unnoticed. */
const tries = 60;

/** What removing a lock between two operations did. */
export interface FaultRun {
  pair: string;
  /** What was removed, and from which of the two; empty: they share no lock. */
  removed: string;
  /** The order that failed, and how; empty: none did. */
  noticed: string;
}

/** Removes the locks that two operations share, one after the other, until the invariant notices it. */
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
  const runs: FaultRun[] = [];
  for (const faults of faultsOf(shared)) {
    const { faults: noticed } = await run(faults, tries);
    const removed = faults.map(({ side, lock }) => `${lock} of ${side === "a" ? a : b}`).join(", ");
    const [first] = noticed;
    runs.push({
      pair: `${a} ${b}`,
      removed,
      noticed: first ? `${stepsOf(first.order).join(" ")}: ${first.fault}` : "",
    });
    if (first) break;
  }
  return shared.length > 0 ? runs : [{ pair: `${a} ${b}`, removed: "", noticed: "" }];
}

/** What both take, in the order in which they do: advisory locks, and rows, of which each has its own name. */
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

/** One lock of one side, then of the other, then all of one side. */
function faultsOf(shared: [string, string][]): Fault[][] {
  const single = shared.flatMap(([a, b]): Fault[][] => [
    [{ side: "a", lock: a }],
    [{ side: "b", lock: b }],
  ]);
  const all = (side: Side): Fault[] =>
    shared.map((names) => ({ side, lock: side === "a" ? names[0] : names[1] }));
  return shared.length > 1 ? [...single, all("a"), all("b")] : single;
}
