import postgres from "postgres";
import { removeIfThere } from "../../local/files.ts";
import { type Stack, stackNamed } from "../../local/stack.ts";
import { readState, type State } from "../../local/state.ts";
import { prepareSystem } from "../../local/system.ts";
import { up } from "../../local/up.ts";

export interface BenchStack {
  stack: Stack;
  state: State;
  /** A superuser's connection: benchmarks make tables and read files. */
  sql: postgres.Sql;
  /** The folder of PostgreSQL's data, where COPY can write. */
  stop(): Promise<void>;
}

/** An empty stack on ports of its own, beside whatever else runs. */
export async function startBenchStack(): Promise<BenchStack> {
  const stack = stackNamed("bench");
  const system = await prepareSystem(progress);
  await Deno.remove(system.outside(system.folder(stack)), { recursive: true }).catch(notFound);
  await removeIfThere(stack.stateFile);
  const running = await up(stack, system, { progress });
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

function notFound(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}
