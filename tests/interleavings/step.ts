import { Failure } from "../../local/exit_on_failure.ts";
import { type Context, type Step, type StepResult } from "../runner/step.ts";
import { shuffled } from "../support/random.ts";
import { connect, Databases } from "./database.ts";
import { type Operation, pairsOf, readOperations } from "./operations.ts";
import { type FaultRun, tryFaults } from "./removed_locks.ts";
import { type PairRun, runPair } from "./run_pair.ts";
import { type Order, stepsOf } from "./permutations.ts";
import { installTester } from "./isolation_tester.ts";

// Repeat a run by its seed: INTERLEAVINGS_SEED=…
// INTERLEAVINGS_COUNT: how many orders of each pair, or "all", without a time limit.
// INTERLEAVINGS_PAIRS="flip enqueue,write seal": only these pairs.
// INTERLEAVINGS_FAULTS=1: removes the locks that a pair shares, and reports which removals the
// invariant notices.

export const interleavings: Step = {
  name: "interleavings",
  title: "pairs of operations, cut into steps, in orders drawn by a seed",
  needsStack: true,
  run: (context) => interleave(context, { count: 6, seconds: 40 }),
};

export const interleavingsAll: Step = {
  name: "interleavings-all",
  title: "pairs of operations, cut into steps, in many orders",
  needsStack: true,
  run: (context) => interleave(context, { count: 20, seconds: 120 }),
};

/**
 * The number of orders of each pair, the seed that draws them, and the number of seconds after which no further pair
 * begins.
 */
interface Sample {
  count: number;
  seconds: number;
  seed?: number;
}

export async function interleave(
  { stack: testStack }: Pick<Context, "stack">,
  sample: Sample,
): Promise<StepResult> {
  if (!testStack) throw new Failure("The interleavings need a stack.");
  const { stack, system } = testStack;
  const named = Deno.env.get("INTERLEAVINGS_COUNT");
  const count = named === "all" ? Infinity : Number(named ?? sample.count);
  const seed = sample.seed ??
    Number(Deno.env.get("INTERLEAVINGS_SEED") ?? Math.floor(Math.random() * 2 ** 31));
  const isForFaults = Deno.env.has("INTERLEAVINGS_FAULTS");
  await installTester(system, (step) => console.log(`  ${step} …`));
  const folder = `${stack.folder}/interleavings`;
  await Deno.mkdir(folder, { recursive: true });
  const all = pairsOf(await readOperations());
  const pairs = chosenPairs(all) ?? shuffled(all, seed);
  console.log(
    `  ${count === Infinity ? "all" : `${count} drawn`} orders of each pair, seed ${seed}`,
  );
  const isTimed = !named && !isForFaults && pairs.length === all.length;
  const until = performance.now() + sample.seconds * 1000;
  const runs: PairRun[] = [];
  const faults: FaultRun[] = [];
  let next = 0;
  await using databases = await Databases.make(stack, 2 * navigator.hardwareConcurrency);
  const work = async (database: string) => {
    const sql = connect(stack, database);
    while (next < pairs.length && !(isTimed && runs.length > 0 && performance.now() > until)) {
      const at = next++;
      const pair = pairs[at];
      const options = { system, stack, database, sql, folder };
      if (isForFaults) {
        const tried = await tryFaults(pair, { ...options, seed });
        faults.push(...tried);
        for (const one of tried) console.log(`  ${faultRow(one)}`);
        continue;
      }
      const draw = (orders: Order[]) => shuffled(orders, seed + at).slice(0, count);
      const run = await runPair(pair, { ...options, ...count < Infinity && { draw } })
        .catch((error) => notBegun(pair, error));
      runs.push(run);
      show(run);
    }
    await sql.end();
  };
  await Promise.all(databases.names.map(work));
  return isForFaults ? faultSummary(faults) : summary(runs, all.length);
}

function faultRow({ pair, removed, noticed }: FaultRun): string {
  const verdict = removed === "" ? "they share no lock" : noticed === "" ? "no" : `yes, ${noticed}`;
  return `| ${pair} | ${removed} | ${verdict} |`;
}

/** A pair passes if the invariant notices a missing lock. */
function faultSummary(faults: FaultRun[]): StepResult {
  const sharing = new Set(faults.filter(({ removed }) => removed !== "").map(({ pair }) => pair));
  const noticed = new Set(faults.filter(({ noticed }) => noticed !== "").map(({ pair }) => pair));
  return { passed: noticed.size, failed: sharing.size - noticed.size };
}

/** Reports a pair that fails even without interleaving. */
function notBegun(pair: [Operation, Operation], error: Error): PairRun {
  return {
    pair: pair.map(({ name }) => name).join(" "),
    places: { a: [], b: [] },
    orders: 0,
    run: 0,
    leftOut: 0,
    faults: [{ order: "", fault: error.message, text: "" }],
    seconds: 0,
  };
}

/** Returns the pairs named by INTERLEAVINGS_PAIRS. */
function chosenPairs(pairs: [Operation, Operation][]): [Operation, Operation][] | undefined {
  return Deno.env.get("INTERLEAVINGS_PAIRS")?.split(",").map((pair) => {
    const [a, b] = pair.trim().split(" ");
    const found = pairs.find(([one, other]) =>
      one.name === a && other.name === b || one.name === b && other.name === a
    );
    if (!found) throw new Failure(`There is no pair ${pair}.`);
    return found;
  });
}

function show({ pair, places, orders, run, leftOut, faults, seconds }: PairRun): void {
  console.log(
    `  ${pair.padEnd(30)} ${`${places.a.length}+${places.b.length}`} steps, ` +
      `${`${run} of ${orders}`.padStart(12)} orders run, ${`${leftOut}`.padStart(5)} left out, ` +
      `${faults.length} failed, ${seconds.toFixed(1)} s`,
  );
  for (const { order, fault } of faults.slice(0, 3)) {
    console.log(`    ${stepsOf(order).join(" ")}: ${fault}`);
  }
}

function summary(runs: PairRun[], pairs: number): StepResult {
  const sum = (of: (run: PairRun) => number) => runs.reduce((total, run) => total + of(run), 0);
  const failed = sum(({ faults }) => faults.length);
  console.log(
    `  ${runs.length} of ${pairs} pairs, ${sum(({ orders }) => orders)} orders of their steps: ` +
      `${sum(({ run }) => run)} run, ${
        sum(({ leftOut }) => leftOut)
      } as good as others, ${failed} failed`,
  );
  return {
    passed: sum(({ run }) => run) - Math.min(failed, sum(({ run }) => run)),
    failed,
    failures: runs.flatMap(({ pair, faults }) =>
      faults.map(({ order, fault }) => `${pair}, ${stepsOf(order).join(" ")}: ${fault}`)
    ),
  };
}
