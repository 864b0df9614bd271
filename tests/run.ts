import { parseArgs } from "node:util";
import { Beside, type Work } from "./runner/run_in_parallel.ts";
import { endKeptStack, keptStack } from "./runner/kept_stack.ts";
import { rowFileName } from "./runner/run_in_process.ts";
import { takeNextTurn, worksOfTurn } from "./runner/long_turn.ts";
import { report, type Row } from "./runner/report.ts";
import { runStep } from "./runner/run_step.ts";
import type { Step } from "./runner/step.ts";
import { longSteps, steps } from "./runner/steps.ts";
import { startTestStack, type TestStack } from "./runner/test_stack.ts";
import { Failure, run } from "../local/exit_on_failure.ts";
import { removeIfThere } from "../local/files.ts";
import { prepareSystem } from "../local/system.ts";

// npm test [-- STEP [FILE…]]: everything, or one step of it, with a stack of its own where it needs one.
// npm test -- long: tests that take too long to run at every change. npm test -- turn: a part of the long tests, for
// continuous integration. See runner/long_turn.ts. npm test -- --keep STEP [FILE…]: on a stack that stays up for the
// next such run; npm test -- --stop ends it.
const { values: given, positionals: [wanted, ...files] } = parseArgs({
  options: {
    keep: { type: "boolean" },
    stop: { type: "boolean" },
    "next-turn": { type: "boolean" },
  },
  allowPositionals: true,
});
const { keep, stop } = given;

const signals: Deno.Signal[] = ["SIGINT", "SIGTERM", "SIGHUP"];

await run(async () => {
  if (stop) {
    console.log(await endKeptStack() ? "The kept stack is gone." : "No stack is kept.");
    return;
  }
  if (given["next-turn"]) return await takeNextTurn();
  const isTurn = wanted === "turn";
  const chosen: Work[] = isTurn ? await worksOfTurn() : choose(wanted);
  if (chosen.length === 0) {
    const names = [...steps, ...longSteps].map((step) => step.name).join(", ");
    throw new Failure(`There is no test step ${wanted}; there are ${names}.`);
  }
  const isAlone = !isTurn && chosen.length === 1;
  if (keep && !isAlone) throw new Failure("--keep takes a step: npm test -- --keep e2e.");

  // A project may have any time zone: one with summer time, or one with an ambiguous name (PostgreSQL reads India's IST
  // as Israel's).
  const isLong = isTurn || longSteps.includes(chosen[0]);
  Deno.env.set("LOGLOOM_TIMEZONE", isLong ? "Asia/Kolkata" : "America/New_York");
  Deno.env.set("LOGLOOM_DATESTYLE", isLong ? "SQL, DMY" : "ISO, MDY");
  Deno.env.set("LOGLOOM_CRON_WORKERS", isLong ? "off" : "on");

  const shared = isAlone ? chosen : chosen.filter((step) => !isTurn && !step.isBeside);
  let starting: Promise<TestStack> | undefined;
  let beside: Beside | undefined;
  const rows: Row[] = [];
  const stopStack = async () => await (await starting?.catch(() => undefined))?.stop();
  try {
    if (!isAlone) {
      // Prepared once, before two steps need it at the same time.
      await prepareSystem((step) => console.log(`  ${step} …`));
      beside = new Beside(
        chosen.filter((step) => !shared.includes(step)),
        isTurn ? { begin: 5, end: 9 } : undefined,
      );
      if (isTurn) endBySignal(beside);
    }
    // Long steps mostly wait, so a third stack costs little; the others keep two processors busy.
    const stacksBeside = ["beside", isLong ? "aside" : undefined] as const;
    const rowsBeside = stacksBeside.map((name) => beside?.work(name) ?? []);
    const startStack = () => {
      if (!starting) {
        console.log("\n== test stack");
        // A signal also ends the stacks beside this one.
        if (beside) endBySignal(beside);
        starting = keep ? keptStack() : startTestStack();
      }
      return starting;
    };
    for (const step of shared) {
      rows.push(await runStep(step, files, startStack));
      beside?.show();
    }
    await stopStack();
    rows.push(...(await Promise.all([beside?.work("test") ?? [], ...rowsBeside])).flat());
    beside?.show();
  } finally {
    beside?.end();
    await stopStack();
  }

  const order = chosen.map(({ name }) => name);
  rows.sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
  const rowFile = Deno.env.get(rowFileName);
  if (rowFile) await Deno.writeTextFile(rowFile, JSON.stringify(rows[0]));
  if (report(rows)) Deno.exit(1);
  if (starting && !keep) await removeIfThere((await starting).stack.folder);
});

function endBySignal(beside: Beside): void {
  for (const signal of signals) Deno.addSignalListener(signal, () => beside.end());
}

function choose(wanted: string | undefined): Step[] {
  if (wanted === undefined) return steps;
  if (wanted === "long") return longSteps;
  return [...steps, ...longSteps].filter((step) => step.name === wanted);
}
