/** Asks until the answer is neither undefined, null nor false, and fails with what was asked for when time is up. */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | undefined | null | false>,
  { within = 15_000, every = 25 } = {},
): Promise<T> {
  const deadline = performance.now() + within;
  let lastError: unknown;
  for (;;) {
    try {
      const answer = await ask();
      if (answer !== undefined && answer !== null && answer !== false) return answer;
      lastError = undefined;
    } catch (error) {
      lastError = error;
    }
    if (performance.now() > deadline) {
      throw new Error(`not within ${within} ms: ${what}`, { cause: lastError });
    }
    await pause(every);
  }
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
