import type { Tally } from "../support/tally.ts";

/** A kind of trial, whose turns come by how much it lacks of what is wanted. */
export interface Kind {
  name: string;
  /** The step of `npm test` that repeats one. */
  step: string;
  file: string;
  /** What makes a turn of a minute or two of it. */
  env(seed: number): Record<string, string>;
  /** What its turns count of what is wanted, and how much that is in eight hours. */
  counts: string;
  wanted: number;
}

export const kinds: Kind[] = [
  {
    name: "the model",
    step: "model",
    file: "tests/model/model_test.ts",
    env: (seed) => ({ MODEL_SEED: `${seed}`, MODEL_SECONDS: "60" }),
    counts: "commands",
    wanted: 15_000,
  },
  {
    name: "fuzzed bodies",
    step: "e2e",
    file: "tests/trial/bodies_test.ts",
    env: (seed) => ({ BODIES_SEED: `${seed}`, BODIES: "10000" }),
    counts: "bodies",
    wanted: 1_000_000,
  },
  {
    name: "kills under load",
    step: "chaos",
    file: "tests/chaos/chaos_test.ts",
    env: (seed) => ({ LOGLOOM_CHAOS_SEED: `${seed}`, LOGLOOM_CHAOS_KILLS: "20" }),
    counts: "kills",
    wanted: 1_000,
  },
  {
    name: "queries, compiler and evaluator",
    step: "query",
    file: "tests/query/agreement_test.ts",
    env: (seed) => ({ QUERY_SEED: `${seed}`, QUERY_BATCHES: "200" }),
    counts: "queries",
    wanted: 9_000_000,
  },
  {
    name: "queries, rows and blocks",
    step: "query",
    file: "tests/sealing/queries_test.ts",
    env: (seed) => ({ SEALING_SEED: `${seed}`, SEALING_BATCHES: "25" }),
    counts: "sealedQueries",
    wanted: 900_000,
  },
  {
    name: "queries, hidden fields",
    step: "query",
    file: "tests/query/hidden_test.ts",
    env: (seed) => ({ QUERY_SEED: `${seed}`, QUERY_COUNT: "200" }),
    counts: "hiddenQueries",
    wanted: 100_000,
  },
];

/** The one that lacks most. */
export function nextKind(reached: Tally): Kind {
  const share = ({ counts, wanted }: Kind) => (reached[counts] ?? 0) / wanted;
  return kinds.reduce((least, kind) => share(kind) < share(least) ? kind : least);
}
