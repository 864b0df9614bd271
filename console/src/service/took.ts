import { replaceEqualDeep } from "@tanstack/react-query";

const times = new WeakMap<object, number>();

/** Notes how long an answer took. */
export async function timed<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  const start = performance.now();
  const answer = await ask();
  note(answer, performance.now() - start);
  return answer;
}

/** Milliseconds from question to answer. */
export function tookOf(answer: unknown): number | undefined {
  return times.get(Object(answer));
}

/** What is the same as before stays the same object, and the answer keeps its time. */
export function shareTimed(before: unknown, now: unknown): unknown {
  const shared = replaceEqualDeep(before, now);
  note(shared, tookOf(now));
  const pages = (answer: unknown): unknown[] => Object(answer).pages ?? [];
  for (const [i, page] of pages(shared).entries()) note(page, tookOf(pages(now)[i]));
  return shared;
}

function note(answer: unknown, took: number | undefined): void {
  if (took !== undefined && typeof answer === "object" && answer !== null) times.set(answer, took);
}
