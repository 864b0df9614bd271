import { createHash } from "node:crypto";
import { startInBackground } from "../../local/start_in_background.ts";
import { command } from "../../local/run_command.ts";
import { removeCluster } from "../../local/database.ts";
import { Failure } from "../../local/exit_on_failure.ts";
import { fromFileUrl, removeIfThere } from "../../local/files.ts";
import { checkout, stackNamed } from "../../local/stack.ts";
import { runningState } from "../../local/stack_state.ts";
import { stop } from "../../local/stop.ts";
import { findSystem, prepareSystem } from "../../local/system.ts";
import { clearStack, nameReceivers, type TestStack, upTestStack } from "./test_stack.ts";
import { walk } from "../../local/list_files.ts";

// npm test -- --keep STEP: keeps the stack after the run, so that the next run with --keep starts at once.

const stack = stackNamed("kept");
const sources = ["supabase/schemas", "supabase/migrations", "supabase/functions", "local", "citus"];
const digestFile = `${stack.folder}/made-of`;
const progress = (step: string) => console.log(`  ${step} …`);

/** Returns the stack of an earlier run, or a new one if the sources have changed. */
export async function keptStack(): Promise<TestStack> {
  const system = await prepareSystem(progress);
  const running = await runningState(stack);
  if (running && running.status !== "ready") {
    throw new Failure(`The kept stack is ${running.status} in another run; wait until it is up.`);
  }
  const isCurrent = running &&
    await Deno.readTextFile(digestFile).catch(() => "") === await digestOfSources();
  if (!isCurrent) {
    if (running) {
      console.log("  The SQL, the functions or local/ changed: the kept stack is recreated.");
      await stop(stack);
    }
    await updateMigration();
    await clearStack(system, stack);
    await startInBackground(stack, fromFileUrl(new URL(import.meta.url)), [], progress);
    await Deno.writeTextFile(digestFile, await digestOfSources());
  }
  nameReceivers(stack);
  console.log("  It stays up; npm test -- --stop ends it.");
  return {
    stack,
    system,
    isKept: true,
    serve: () => {
      throw new Failure("This step serves the functions in its own way; run it without --keep.");
    },
    stop: async () => {},
  };
}

/** Ends the kept stack and removes its data. Returns false if there was none. */
export async function endKeptStack(): Promise<boolean> {
  const wasRunning = await stop(stack);
  const system = await findSystem();
  if (system) await removeCluster(system, stack);
  await removeIfThere(stack.folder);
  return wasRunning;
}

/** Updates the migrations from the schemas, because a stack is made from the migrations. */
async function updateMigration(): Promise<void> {
  await command([Deno.execPath(), "run", "--allow-all", "local/migration.ts"], {
    cwd: checkout,
    failure: "npm run migration failed",
  });
}

/** Returns a digest of the sources, to see whether a running stack is current. */
async function digestOfSources(): Promise<string> {
  const hash = createHash("sha256");
  for (const path of await walk(sources)) {
    if (path.endsWith("_test.ts")) continue;
    hash.update(path).update(await Deno.readFile(`${checkout}/${path}`));
  }
  for (
    const name of ["TIMEZONE", "DATESTYLE", "CRON_WORKERS", "POSTGRES"].map((n) => `LOGLOOM_${n}`)
  ) {
    hash.update(`${name}=${Deno.env.get(name) ?? ""}`);
  }
  return hash.digest("hex");
}

if (import.meta.main) {
  await upTestStack(await prepareSystem(progress), stack, { isService: true });
  await new Promise(() => {});
}
