import postgres from "postgres";
import { removeCluster } from "../../local/database.ts";
import type { Serving } from "../../local/processes/functions.ts";
import { type Stack, type StackName, stackNamed } from "../../local/stack.ts";
import { readState, type State } from "../../local/stack_state.ts";
import { prepareSystem } from "../../local/system.ts";
import { endLeftovers, up } from "../../local/start_stack.ts";

export interface BenchStack extends AsyncDisposable {
  stack: Stack;
  state: State;
  /** A superuser's connection: benchmarks create tables and read files. */
  sql: postgres.Sql;
  /** Restarts the edge functions. */
  serveAnew(): Promise<void>;
}

/** Starts an empty stack with its own ports. */
export async function startBenchStack(
  serving?: Serving,
  workers = 0,
  name: StackName = "bench",
  { archive = false } = {},
): Promise<BenchStack> {
  const stack = stackNamed(name);
  const system = await prepareSystem(step);
  await endLeftovers(stack);
  await removeCluster(system, stack);
  const running = await up(stack, system, { progress: step, serving, workers, archive });
  const state = await readState(stack);
  if (!state) throw new Error("the stack has no state");
  const sql = postgres(stack.adminDatabaseUrl, { max: 4, onnotice: () => {} });
  return {
    stack,
    state,
    sql,
    serveAnew: async () => {
      if (!serving) throw new Error("how it is served is not known");
      await running.serve(serving);
      Object.assign(state, await readState(stack));
    },
    [Symbol.asyncDispose]: async () => {
      await sql.end();
      await running.stop();
    },
  };
}

/** Says what a benchmark does now. */
export function step(text: string): void {
  console.error(`  ${text}`);
}
