/** An order of the steps of two operations: whose turn it is at each step, such as "abba". */
export type Order = string;

/** Returns all orders of a steps of one operation and b steps of the other. */
export function allOrders(a: number, b: number): Order[] {
  if (a === 0 || b === 0) return ["a".repeat(a) + "b".repeat(b)];
  return [
    ...allOrders(a - 1, b).map((rest) => `a${rest}`),
    ...allOrders(a, b - 1).map((rest) => `b${rest}`),
  ];
}

/** Returns the names of the steps in an order: a1 b1 b2 a2. */
export function stepsOf(order: Order): string[] {
  const taken: Record<string, number> = { a: 0, b: 0 };
  return [...order].map((side) => `${side}${++taken[side]}`);
}

/** Returns the order of steps that a list of names describes. */
export function orderOf(steps: string[]): Order {
  return steps.map((step) => step[0]).join("");
}
