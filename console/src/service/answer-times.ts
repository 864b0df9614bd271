import { replaceEqualDeep } from "@tanstack/react-query";

const times = new WeakMap<object, number>();

/** Runs a request and remembers how long its answer took. */
export async function timed<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  const start = performance.now();
  const answer = await ask();
  note(answer, performance.now() - start);
  return answer;
}

/** How many milliseconds the answer took. */
export function answerTime(answer: unknown): number | undefined {
  return times.get(Object(answer));
}

/** Structural sharing for React Query that keeps the answer's time. */
export function shareTimed(before: unknown, now: unknown): unknown {
  const shared = replaceEqualDeep(before, now);
  note(shared, answerTime(now));
  const pages = (answer: unknown): unknown[] => Object(answer).pages ?? [];
  for (const [i, page] of pages(shared).entries()) note(page, answerTime(pages(now)[i]));
  return shared;
}

function note(answer: unknown, took: number | undefined): void {
  if (took !== undefined && typeof answer === "object" && answer !== null) times.set(answer, took);
}
