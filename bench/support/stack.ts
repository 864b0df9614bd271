import postgres from "postgres";
import { removeCluster } from "../../local/database.ts";
import type { Serving } from "../../local/processes/functions.ts";
import { type Stack, stackNamed } from "../../local/stack.ts";
import { readState, type State } from "../../local/state.ts";
import { prepareSystem } from "../../local/system.ts";
import { endLeftovers, up } from "../../local/up.ts";

export interface BenchStack {
  stack: Stack;
  state: State;
  /** A superuser's connection: benchmarks make tables and read files. */
  sql: postgres.Sql;
  stop(): Promise<void>;
}

/** An empty stack on ports of its own, beside whatever else runs. */
export async function startBenchStack(serving?: Serving): Promise<BenchStack> {
  const stack = stackNamed("bench");
  const system = await prepareSystem(progress);
  await endLeftovers(stack);
  await removeCluster(system, stack);
  const running = await up(stack, system, { progress, serving });
  const state = await readState(stack);
  if (!state) throw new Error("the stack has no state");
  const sql = postgres(stack.adminDatabaseUrl, { max: 4, onnotice: () => {} });
  return {
    stack,
    state,
    sql,
    stop: async () => {
      await sql.end();
      await running.stop();
    },
  };
}

function progress(step: string): void {
  console.error(`  ${step}`);
}
