import assert from "node:assert/strict";

/**
 * After so many milliseconds what is awaited is taken for something that never comes. It decides no test: however slow a
 * machine is, what comes at all comes sooner, be it an alert's round of a minute and a pause after it.
 */
export const patience = 300_000;

/** Asks until the answer is neither undefined, null nor false, and fails with what was asked for when patience ends. */
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

/** What is asked may itself wait for something that never comes. */
async function within<T>(milliseconds: number, answer: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error("there is no answer")), milliseconds);
  try {
    return await Promise.race([answer, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Asks until the answer is this, and shows the difference if it never is. */
export async function becomes(expected: unknown, ask: () => Promise<unknown>): Promise<void> {
  await eventually("what is expected", async () => {
    assert.deepEqual(await ask(), expected);
    return true;
  });
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
