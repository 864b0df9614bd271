import { Failure } from "../../local/exit_on_failure.ts";
import { interleave } from "../interleavings/step.ts";
import { runApart } from "../runner/run_in_process.ts";
import { type Context, denoTests, partName, type StepResult } from "../runner/step.ts";
import { talliesIn, type Tally } from "../support/trial_counts.ts";

/** A kind of trial. The kind that is furthest from its target gets the next turn. */
export interface Kind {
  name: string;
  /** A turn of some minutes. */
  run(context: Pick<Context, "files" | "stack">, env: Record<string, string>): Promise<TurnResult>;
  /** The arguments and variables of `npm test` that repeat a turn. */
  repeat: string;
  env(seed: number): Record<string, string>;
  /** The count that its turns add to, and the target in eight hours. */
  counts: string;
  wanted: number;
}

export type TurnResult = StepResult & { tallies: Tally[] };

/** Runs a test file as a turn. The tests write their counts into a file. */
function tests(step: string, file: string): Pick<Kind, "run" | "repeat"> {
  return {
    repeat: `${step} ${file}`,
    run: async (context, env) => {
      const tallyFile = await Deno.makeTempFile();
      try {
        const result = await denoTests([file], context, {
          env: { ...env, LOGLOOM_TALLY_FILE: tallyFile },
        });
        return { ...result, tallies: await talliesIn(tallyFile) };
      } finally {
        await Deno.remove(tallyFile);
      }
    },
  };
}

/** Runs a turn of the interleavings: a number of orders for as many pairs as fit into two minutes. */
async function runInterleavings(
  context: Pick<Context, "files" | "stack">,
  env: Record<string, string>,
): Promise<TurnResult> {
  const result = await interleave(context, {
    count: Number(env.INTERLEAVINGS_COUNT),
    seed: Number(env.INTERLEAVINGS_SEED),
    seconds: 120,
  });
  return { ...result, tallies: [{ orders: result.passed + result.failed }] };
}

// A copy of the variables from before the trial's stack sets its own.
const ownEnv = Deno.env.toObject();

/** Runs a turn of a long step on its own stack: a quarter of its files, or of the tests in the named files. */
function fourth(step: string, wanted: number, files: string[] = []): Kind {
  return {
    name: `the step ${step}`,
    repeat: [step, ...files].join(" "),
    env: (seed) => ({ [partName]: `${1 + seed % 4}/4` }),
    counts: step,
    wanted,
    run: async (_, env) => {
      const { row, text } = await runApart({ name: step, files }, { env: { ...ownEnv, ...env } });
      console.log(text);
      return { ...row, tallies: [{ [step]: row.passed }] };
    },
  };
}

const kinds: Kind[] = [
  {
    name: "the model",
    ...tests("model", "tests/model/model_test.ts"),
    env: (seed) => ({ MODEL_SEED: `${seed}`, MODEL_SECONDS: "60" }),
    counts: "commands",
    wanted: 5_000,
  },
  {
    name: "fuzzed bodies",
    ...tests("e2e", "tests/trial/bodies_test.ts"),
    env: (seed) => ({ BODIES_SEED: `${seed}`, BODIES: "10000" }),
    counts: "bodies",
    wanted: 1_000_000,
  },
  {
    name: "kills under load",
    ...tests("chaos", "tests/chaos/chaos_test.ts"),
    env: (seed) => ({
      LOGLOOM_CHAOS_SEED: `${seed}`,
      LOGLOOM_CHAOS_KILLS: "60",
      LOGLOOM_CHAOS_CLOCK_STEPS: "1",
    }),
    counts: "kills",
    wanted: 1_000,
  },
  {
    name: "interleavings",
    run: runInterleavings,
    repeat: "interleavings",
    env: (seed) => ({ INTERLEAVINGS_SEED: `${seed}`, INTERLEAVINGS_COUNT: "100" }),
    counts: "orders",
    wanted: 50_000,
  },
  {
    name: "queries, compiler and evaluator",
    ...tests("query", "tests/query/agreement_test.ts"),
    env: (seed) => ({ QUERY_SEED: `${seed}`, QUERY_BATCHES: "600" }),
    counts: "queries",
    wanted: 9_900_000,
  },
  {
    name: "queries, rows and blocks",
    ...tests("query", "tests/sealing/queries_test.ts"),
    env: (seed) => ({ SEALING_SEED: `${seed}`, SEALING_BATCHES: "25" }),
    counts: "sealedQueries",
    wanted: 80_000,
  },
  {
    name: "queries, hidden fields",
    ...tests("query", "tests/query/hidden_test.ts"),
    env: (seed) => ({ QUERY_SEED: `${seed}`, QUERY_COUNT: "200" }),
    counts: "hiddenQueries",
    wanted: 20_000,
  },
  fourth("archive", 60, ["tests/archive/kills_test.ts", "tests/archive/faults_test.ts"]),
  fourth("senders-all", 150),
  fourth("hosted-all", 300),
  fourth("memory", 12, ["tests/memory/memory_test.ts"]),
];

/** The kinds with these counts, or all. */
export function kindsOf(wanted: string[]): Kind[] {
  const names = kinds.map(({ counts }) => counts);
  const unknown = wanted.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new Failure(`There is no kind of trial ${unknown}; there are ${names.join(", ")}.`);
  }
  return kinds.filter(({ counts }) => wanted.length === 0 || wanted.includes(counts));
}

/** Returns the kind that is furthest from its target. */
export function nextKind(chosen: Kind[], reached: Tally): Kind {
  const share = ({ counts, wanted }: Kind) => (reached[counts] ?? 0) / wanted;
  return chosen.reduce((least, kind) => share(kind) < share(least) ? kind : least);
}
