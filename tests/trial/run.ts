import { parseArgs } from "node:util";
import { command } from "../../local/run_command.ts";
import { Failure, run } from "../../local/exit_on_failure.ts";
import { checkout } from "../../local/stack.ts";
import { startTestStack, type TestStack } from "../runner/test_stack.ts";
import type { Tally } from "../support/trial_counts.ts";
import { reportOf } from "./report.ts";
import { forgetState, readState, writeState } from "./trial_state.ts";
import { type Kind, kindsOf, nextKind } from "./trial_turns.ts";

// npm run trial -- --hours N [KIND…]: runs trials for hours, in turns of a minute or two, on its own stack.

const { values: { hours, anew }, positionals: wanted } = parseArgs({
  options: { hours: { type: "string", default: "8" }, anew: { type: "boolean" } },
  allowPositionals: true,
});
const reportFile = ".logloom/trial.md";

await run(async () => {
  const seconds = Number(hours) * 3600;
  if (!(seconds > 0)) throw new Failure("--hours takes a number above 0.");
  const chosen = kindsOf(wanted);
  if (anew) await forgetState();
  const commit = await command(["git", "rev-parse", "--short", "HEAD"], {
    cwd: checkout,
    failure: "git does not name the commit",
  });
  const state = await readState(commit.trim());
  if (state.seconds > 0) console.log(`Continuing after ${Math.round(state.seconds)} s.`);
  let isEnded = false;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    Deno.addSignalListener(signal, () => {
      if (!isEnded) console.log(`\n${reportOf(state)}\nThe report is ${reportFile}.`);
      isEnded = true;
    });
  }
  // The stack ends this process after a signal.
  const stack = await startTestStack("trial");
  try {
    while (state.seconds < seconds) {
      const kind = nextKind(chosen, state.reached);
      console.log(`\n== ${kind.name}, after ${Math.round(state.seconds)} s`);
      const { tallies, took, disagreement } = await turn(kind, stack);
      // The turn's stack was stopped, so its result does not count.
      if (isEnded) await new Promise(() => {});
      state.seconds += took;
      for (const [counts, value] of tallies.flatMap((tally) => Object.entries(tally))) {
        state.reached[counts] = (state.reached[counts] ?? 0) + value;
      }
      if (disagreement) state.disagreements.push(disagreement);
      await writeState(state);
      await Deno.writeTextFile(`${checkout}/${reportFile}`, reportOf(state));
      if (disagreement) throw new Failure(`They disagree. This repeats it:\n${disagreement}`);
    }
  } finally {
    if (!isEnded) {
      await stack.stop();
      console.log(`\n${reportOf(state)}\nThe report is ${reportFile}.`);
    }
  }
});

interface Turn {
  tallies: Tally[];
  took: number;
  disagreement?: string;
}

async function turn({ run, repeat, env }: Kind, stack: TestStack): Promise<Turn> {
  const variables = env(Math.floor(Math.random() * 2 ** 31));
  const began = performance.now();
  const { failed, failures = [], tallies } = await run({ files: [], stack }, variables);
  const named = Object.entries(variables).map((pair) => pair.join("="));
  return {
    tallies,
    took: (performance.now() - began) / 1000,
    ...failed > 0 && {
      disagreement: [`${named.join(" ")} npm test -- ${repeat}`, ...failures].join("\n"),
    },
  };
}
