import assert from "node:assert/strict";

/**
 * The most milliseconds to wait for a condition. Longer than any real wait on a slow machine, such as an alert round
 * of a minute and a pause after it.
 */
export const patience = 300_000;

/** Repeats a question until the answer is neither undefined, null nor false. Fails with `what` after `patience`. */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | undefined | null | false>,
  { every = 25 } = {},
): Promise<T> {
  const deadline = performance.now() + patience;
  let lastError: unknown;
  for (;;) {
    try {
      const answer = await within(Math.max(deadline - performance.now(), 1_000), ask());
      if (answer !== undefined && answer !== null && answer !== false) return answer;
      lastError = undefined;
    } catch (error) {
      lastError = error;
    }
    if (performance.now() > deadline) {
      throw new Error(`it never came: ${what}`, { cause: lastError });
    }
    await pause(every);
  }
}

/** Fails if the answer takes too long. */
async function within<T>(milliseconds: number, answer: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error("there is no answer")), milliseconds);
  try {
    return await Promise.race([answer, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits until the answer equals this value, and fails with the difference. */
export async function becomes(expected: unknown, ask: () => Promise<unknown>): Promise<void> {
  await eventually("what is expected", async () => {
    assert.deepEqual(await ask(), expected);
    return true;
  });
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
