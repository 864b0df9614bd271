import { shuffled } from "./random.ts";

/** What a run of all long trials draws its samples by; a step that runs by itself has none, and leaves out nothing. */
export const sampleSeed = "LOGLOOM_SAMPLE_SEED";

/** All of them; where samples are drawn so many, in their order. */
export function sampleOf<T>(all: readonly T[], count: number): T[] {
  const seed = Deno.env.get(sampleSeed);
  if (seed === undefined) return [...all];
  const drawn = new Set(shuffled([...all.keys()], Number(seed)).slice(0, count));
  return all.filter((_, at) => drawn.has(at));
}
