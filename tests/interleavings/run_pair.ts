import type { Stack } from "../../local/stack.ts";
import type { System } from "../../local/system.ts";
import postgres from "postgres";
import { type Fault, ReadyPair } from "./database.ts";
import type { Operation } from "./operations.ts";
import { allOrders, type Order } from "./permutations.ts";
import { type Outcome, runSpec, specOf } from "./isolation_tester.ts";

export interface PairRun {
  pair: string;
  places: { a: string[]; b: string[] };
  /** How many orders of its steps exist. */
  orders: number;
  /** How many orders were run completely and checked. */
  run: number;
  /** How many orders are equivalent to another one. */
  leftOut: number;
  faults: Outcome[];
  seconds: number;
}

/** How many permutations the tester gets at a time. Its results exclude equivalent ones. */
const roundLength = { all: 150, untilOneFails: 20 };

interface PairOptions {
  system: System;
  stack: Stack;
  /** The database, and a connection to it. */
  database: string;
  sql: postgres.Sql;
  /** Chooses the orders to run; all if not given. */
  draw?: (orders: Order[]) => Order[];
  /** The folder for the specs. */
  folder: string;
  faults?: Fault[];
  /** Ends after the first failing order. */
  isForOneFault?: boolean;
}

/** Runs two operations in the orders of their steps. */
export async function runPair(
  pair: [Operation, Operation],
  { system, stack, database, sql, draw, folder, faults = [], isForOneFault }: PairOptions,
): Promise<PairRun> {
  const began = performance.now();
  await using ready = await ReadyPair.make(sql, pair, faults);
  const { places } = ready;
  const all = allOrders(places.a.length, places.b.length);
  const [a, b] = pair.map(({ name }) => name);
  const result: PairRun = {
    pair: `${a} ${b}`,
    places,
    orders: all.length,
    run: 0,
    leftOut: 0,
    faults: [],
    seconds: 0,
  };
  let waiting = draw ? draw(all) : all;
  const leftOut = new Map<Order, string>();
  const done: Order[] = [];
  while (waiting.length > 0 && !(isForOneFault && result.faults.length > 0)) {
    // Draws orders that are far apart.
    const length = isForOneFault ? roundLength.untilOneFails : roundLength.all;
    const stride = Math.max(1, Math.floor(waiting.length / length));
    const round = waiting.filter((_, n) => n % stride === 0).slice(0, length);
    const { outcomes, text } = await runSpec(
      system,
      stack,
      database,
      specOf({ a, b }, places, round, new Map(), draw !== undefined),
    );
    if (outcomes.length < round.length) {
      result.faults.push({
        order: round[outcomes.length],
        fault: `the tester ended early: ${text.slice(-2000)}`,
        text,
      });
    }
    for (const outcome of outcomes) {
      if (outcome.fault) result.faults.push(outcome);
      if (outcome.leftOut) leftOut.set(outcome.leftOut.beginning, outcome.leftOut.reason);
      else done.push(outcome.order);
    }
    if (outcomes.length === 0) break;
    const given = new Set(round);
    const before = waiting.length;
    waiting = waiting.filter((order) => !given.has(order) && !beginsWith(leftOut, order));
    result.leftOut += before - waiting.length - outcomes.filter((one) => !one.leftOut).length;
  }
  result.run = done.length;
  const leftovers = await ready.leftovers();
  if (leftovers !== "") {
    result.faults.push({ order: "", fault: `not put back: ${leftovers}`, text: "" });
  }
  await Deno.writeTextFile(
    `${folder}/${a}--${b}.spec`,
    specOf({ a, b }, places, done.sort(), leftOut, draw !== undefined),
  );
  result.seconds = (performance.now() - began) / 1000;
  return result;
}

function beginsWith(beginnings: Map<Order, string>, order: Order): boolean {
  for (let length = 1; length <= order.length; length += 1) {
    if (beginnings.has(order.slice(0, length))) return true;
  }
  return false;
}
