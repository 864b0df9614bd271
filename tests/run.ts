import { parseArgs } from "node:util";
import { Beside } from "./runner/beside.ts";
import { endKeptStack, keptStack } from "./runner/kept_stack.ts";
import { report, type Row } from "./runner/report.ts";
import { watchSharedRows } from "./runner/shared_rows.ts";
import type { Step } from "./runner/step.ts";
import { longSteps, steps } from "./runner/steps.ts";
import { startTestStack, type TestStack } from "./runner/test_stack.ts";
import { Failure, run } from "../local/failure.ts";
import { removeIfThere } from "../local/files.ts";
import { prepareSystem } from "../local/system.ts";
import { sampleSeed } from "./support/sample.ts";

// npm test [-- STEP [FILE…]]: everything, or one step of it, with a stack of its own where it needs one.
// npm test -- long: what takes too long to be run at every change.
// npm test -- --keep STEP [FILE…]: on a stack that stays up for the next such run; npm test -- --stop ends it.
const { values: { keep, stop }, positionals: [wanted, ...files] } = parseArgs({
  options: { keep: { type: "boolean" }, stop: { type: "boolean" } },
  allowPositionals: true,
});

const signals: Deno.Signal[] = ["SIGINT", "SIGTERM", "SIGHUP"];

await run(async () => {
  if (stop) {
    console.log(await endKeptStack() ? "The kept stack is gone." : "No stack is kept.");
    return;
  }
  const chosen = choose(wanted);
  if (chosen.length === 0) {
    const names = [...steps, ...longSteps].map((step) => step.name).join(", ");
    throw new Failure(`There is no test step ${wanted}; there are ${names}.`);
  }
  const isAlone = chosen.length === 1;
  if (keep && !isAlone) throw new Failure("--keep takes a step: npm test -- --keep e2e.");

  // A project may have a time zone, also one with summer time; and one whose times, written in the
  // way that it has chosen, are read as another's: IST is India's, and to PostgreSQL Israel's.
  const isLong = longSteps.includes(chosen[0]);
  Deno.env.set("LOGLOOM_TIMEZONE", isLong ? "Asia/Kolkata" : "America/New_York");
  Deno.env.set("LOGLOOM_DATESTYLE", isLong ? "SQL, DMY" : "ISO, MDY");

  // Continuous integration has no time for all of it.
  if (isLong && !isAlone) drawSamples();

  const shared = isAlone ? chosen : chosen.filter((step) => !step.isBeside);
  let stack: TestStack | undefined;
  let beside: Beside | undefined;
  const rows: Row[] = [];
  try {
    if (!isAlone) {
      // Once, before two ask for it at the same time.
      await prepareSystem((step) => console.log(`  ${step} …`));
      beside = new Beside(chosen.filter((step) => !shared.includes(step)));
    }
    // The long ones mostly wait, and a third stack costs them little; the others keep two processors busy.
    const stacksBeside = ["beside", isLong ? "aside" : undefined] as const;
    const rowsBeside = stacksBeside.map((name) => beside?.work(name) ?? []);
    for (const step of shared) {
      if (step.needsStack && !stack) {
        console.log("\n== test stack");
        // A signal that ends this stack ends those beside it.
        if (beside) {
          for (const signal of signals) Deno.addSignalListener(signal, () => beside?.end());
        }
        stack = keep ? await keptStack() : await startTestStack();
      }
      console.log(`\n== ${step.name}: ${step.title}`);
      const began = performance.now();
      const leftovers = stack && await watchSharedRows(stack);
      const result = await step.run({ files, stack });
      for (const difference of await leftovers?.() ?? []) {
        console.log(difference);
        result.failed += 1;
      }
      rows.push({ name: step.name, seconds: (performance.now() - began) / 1000, ...result });
      beside?.show();
    }
    await stack?.stop();
    rows.push(...(await Promise.all([beside?.work("test") ?? [], ...rowsBeside])).flat());
    beside?.show();
  } finally {
    beside?.end();
    await stack?.stop();
  }

  const order = chosen.map(({ name }) => name);
  rows.sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
  if (report(rows)) Deno.exit(1);
  if (stack && !keep) await removeIfThere(stack.stack.folder);
});

/** A run of all long steps tries samples, drawn by a seed; `npm run trial` goes on with others. */
function drawSamples(): void {
  const seed = Deno.env.get(sampleSeed) ?? `${Math.floor(Math.random() * 2 ** 31)}`;
  Deno.env.set(sampleSeed, seed);
  console.log(`  Samples are drawn by ${sampleSeed}=${seed}.`);
}

function choose(wanted: string | undefined): Step[] {
  if (wanted === undefined) return steps;
  if (wanted === "long") return longSteps;
  return [...steps, ...longSteps].filter((step) => step.name === wanted);
}
