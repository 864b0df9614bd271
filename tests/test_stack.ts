import { removeCluster } from "../local/database.ts";
import { Failure } from "../local/failure.ts";
import { removeIfThere } from "../local/files.ts";
import type { Serving } from "../local/processes/functions.ts";
import { cloneDatabase } from "../local/migrations/databases.ts";
import { type Stack, type StackName, stackNamed } from "../local/stack.ts";
import { runningState } from "../local/state.ts";
import { prepareSystem, type System } from "../local/system.ts";
import { endLeftovers, up } from "../local/up.ts";

/** The database that pgTAP tests in: as migrated, with no job at work in it. */
export const pgtapDatabase = "pgtap";

export interface TestStack {
  stack: Stack;
  system: System;
  /** Serves the edge functions in another way from now on. */
  serve(serving: Serving): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a stack of the tests' own, with no data of an earlier run, beside whatever else runs. */
export async function startTestStack(
  name = (Deno.env.get("LOGLOOM_TEST_STACK") ?? "test") as StackName,
  workers?: number,
): Promise<TestStack> {
  const progress = (step: string) => console.log(`  ${step} …`);
  const stack = stackNamed(name);
  if (await runningState(stack)) {
    throw new Failure("Another npm test of this checkout is running; wait until it has ended.");
  }
  const system = await prepareSystem(progress);
  await endLeftovers(stack);
  await removeCluster(system, stack);
  await removeIfThere(stack.folder);
  // Notifications go to receivers that the tests start: any port for webhooks, this one for email.
  Deno.env.set("LOGLOOM_ALLOW_LOCAL_WEBHOOKS", "1");
  Deno.env.set("LOGLOOM_SMTP_HOST", "127.0.0.1");
  Deno.env.set("LOGLOOM_SMTP_PORT", `${stack.ports.internal + 9}`);
  Deno.env.set("LOGLOOM_SMTP_FROM", "Logloom <alerts@logloom.example>");
  const running = await up(stack, system, {
    progress,
    workers,
    // A database that is sharded is no template.
    afterDatabase: workers ? undefined : async () => {
      await cloneDatabase(stack, "postgres", pgtapDatabase);
    },
  });
  return {
    stack,
    system,
    serve: running.serve,
    stop: async () => {
      await running.stop();
      await removeCluster(system, stack);
    },
  };
}
