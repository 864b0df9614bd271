import { connect, removeCluster } from "../../local/database.ts";
import { Failure } from "../../local/exit_on_failure.ts";
import { removeIfThere } from "../../local/files.ts";
import { bucketEnv } from "../../local/processes/bucket.ts";
import type { Serving } from "../../local/processes/functions.ts";
import { cloneDatabase } from "../../local/migrations/clone_database.ts";
import { type Stack, type StackName, stackNamed } from "../../local/stack.ts";
import { runningState } from "../../local/stack_state.ts";
import { prepareSystem, type System } from "../../local/system.ts";
import { endLeftovers, up, type UpOptions, type UpStack } from "../../local/start_stack.ts";

/** The database for pgTAP: only migrated, and without jobs. */
export const pgtapDatabase = "pgtap";

export interface TestStack {
  stack: Stack;
  system: System;
  /** Whether the stack is kept for the next run. Steps must not change it then. */
  isKept?: true;
  /** Changes how the edge functions are served. */
  serve(serving: Serving): Promise<void>;
  stop(): Promise<void>;
}

/** Starts an empty stack for the tests, beside other stacks. */
export async function startTestStack(
  name = (Deno.env.get("LOGLOOM_TEST_STACK") ?? "test") as StackName,
  workers?: number,
): Promise<TestStack> {
  const stack = stackNamed(name);
  if (await runningState(stack)) {
    throw new Failure("Another npm test of this checkout is running; wait until it has ended.");
  }
  const system = await prepareSystem(progress);
  await clearStack(system, stack);
  const running = await upTestStack(system, stack, { workers });
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

/** Removes the remains of an earlier run's stack. */
export async function clearStack(system: System, stack: Stack): Promise<void> {
  await endLeftovers(stack);
  await removeCluster(system, stack);
  await removeIfThere(stack.folder);
}

/** Starts a stack with the tests' settings. */
export async function upTestStack(
  system: System,
  stack: Stack,
  options: Pick<UpOptions, "workers" | "isService">,
): Promise<UpStack> {
  nameReceivers(stack);
  return await up(stack, system, {
    ...options,
    progress,
    // A sharded database cannot be a template.
    afterDatabase: options.workers ? undefined : async () => {
      const sql = connect(await cloneDatabase(stack, "postgres", pgtapDatabase));
      await sql`select logloom_private.maintain_partitions()`.finally(() => sql.end());
    },
  });
}

/** Sets the receivers to servers that the tests start: any port for webhooks, one for email, one for the archive. */
export function nameReceivers(stack: Stack): void {
  const { ports } = stack;
  Deno.env.set("LOGLOOM_ALLOW_LOCAL_WEBHOOKS", "1");
  Deno.env.set("LOGLOOM_SMTP_HOST", "127.0.0.1");
  Deno.env.set("LOGLOOM_SMTP_PORT", `${ports.internal + 9}`);
  Deno.env.set("LOGLOOM_PAGERDUTY_URL", `http://127.0.0.1:${ports.internal + 31}/v2/enqueue`);
  for (const [name, value] of Object.entries(bucketEnv(stack))) Deno.env.set(name, value);
  Deno.env.set("LOGLOOM_SMTP_FROM", "Logloom <alerts@logloom.example>");
}

const progress = (step: string) => console.log(`  ${step} …`);
