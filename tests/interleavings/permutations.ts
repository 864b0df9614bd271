/** An order of the steps of two operations: whose turn it is, step after step, such as "abba". */
export type Order = string;

/** All orders of so many steps of a and of b. */
export function allOrders(a: number, b: number): Order[] {
  if (a === 0 || b === 0) return ["a".repeat(a) + "b".repeat(b)];
  return [
    ...allOrders(a - 1, b).map((rest) => `a${rest}`),
    ...allOrders(a, b - 1).map((rest) => `b${rest}`),
  ];
}

/** The names of the steps in an order: a1 b1 b2 a2. */
export function stepsOf(order: Order): string[] {
  const taken: Record<string, number> = { a: 0, b: 0 };
  return [...order].map((side) => `${side}${++taken[side]}`);
}

/** The order of such names. */
export function orderOf(steps: string[]): Order {
  return steps.map((step) => step[0]).join("");
}

/** Numbers from 0 to below 1 that are the same for the same seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The same orders, shuffled. */
export function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const left = [...items];
  for (let n = left.length - 1; n > 0; n -= 1) {
    const other = Math.floor(random() * (n + 1));
    [left[n], left[other]] = [left[other], left[n]];
  }
  return left;
}
