import { Failure } from "../../local/failure.ts";
import { type Context, type Step, type StepResult } from "../runner/step.ts";
import { connect, Databases } from "./database.ts";
import { type Operation, pairsOf, readOperations } from "./operations.ts";
import { type PairRun, runPair } from "./pair.ts";
import { type Order, randomOf, shuffled, stepsOf } from "./permutations.ts";
import { installTester } from "./tester.ts";

// A run is repeated by its seed: INTERLEAVINGS_SEED=…; INTERLEAVINGS_COUNT is how many orders of each pair,
// or "all"; INTERLEAVINGS_PAIRS="flip enqueue,write seal" names pairs.

export const interleavings: Step = {
  name: "interleavings",
  title: "pairs of operations, cut into steps, in an order drawn by a seed",
  needsStack: true,
  run: (context) => interleave(context, 6),
};

export const interleavingsAll: Step = {
  name: "interleavings-all",
  title: "pairs of operations, cut into steps, in many orders",
  needsStack: true,
  run: (context) => interleave(context, 60),
};

async function interleave({ stack: testStack }: Context, count: number): Promise<StepResult> {
  if (!testStack) throw new Failure("The interleavings need a stack.");
  const { stack, system } = testStack;
  const wanted = Deno.env.get("INTERLEAVINGS_COUNT") ?? `${count}`;
  const seed = Number(Deno.env.get("INTERLEAVINGS_SEED") ?? Math.floor(Math.random() * 2 ** 31));
  console.log(
    `  ${wanted === "all" ? "all" : `${wanted} drawn`} orders of each pair, seed ${seed}`,
  );
  await installTester(system, (step) => console.log(`  ${step} …`));
  const folder = `${stack.folder}/interleavings`;
  await Deno.mkdir(folder, { recursive: true });
  const pairs = chosenPairs(await readOperations());
  const runs: PairRun[] = [];
  let next = 0;
  await using databases = await Databases.make(stack, navigator.hardwareConcurrency);
  const work = async (database: string) => {
    const sql = connect(stack, database);
    while (next < pairs.length) {
      const at = next++;
      const random = randomOf(seed + at);
      const run = await runPair(pairs[at], {
        system,
        stack,
        database,
        sql,
        folder,
        ...wanted !== "all" &&
          { draw: (orders: Order[]) => shuffled(orders, random).slice(0, Number(wanted)) },
      }).catch((error) => notBegun(pairs[at], error));
      runs.push(run);
      show(run);
    }
    await sql.end();
  };
  await Promise.all(databases.names.map(work));
  return summary(runs);
}

/** A pair that fails without any interleaving. */
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

function chosenPairs(operations: Operation[]): [Operation, Operation][] {
  const pairs = pairsOf(operations);
  const named = Deno.env.get("INTERLEAVINGS_PAIRS");
  if (!named) return pairs;
  return named.split(",").map((pair) => {
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

function summary(runs: PairRun[]): StepResult {
  const sum = (of: (run: PairRun) => number) => runs.reduce((total, run) => total + of(run), 0);
  const failed = sum(({ faults }) => faults.length);
  console.log(
    `  ${runs.length} pairs, ${sum(({ orders }) => orders)} orders of their steps: ` +
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
