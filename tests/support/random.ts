/** Makes random numbers; the same seed gives the same numbers. */
export function randomOf(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9 >>> 0;
    state = Math.imul(state ^ (state >>> 12), 0x297a2d39) >>> 0;
    return ((state ^ (state >>> 15)) >>> 0) % below;
  };
}

/** Returns the items in an order that the seed determines. */
export function shuffled<T>(items: readonly T[], seed: number): T[] {
  const random = randomOf(seed);
  const left = [...items];
  for (let n = left.length - 1; n > 0; n -= 1) {
    const other = random(n + 1);
    [left[n], left[other]] = [left[other], left[n]];
  }
  return left;
}
