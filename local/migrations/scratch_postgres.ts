import { withPostgres } from "../lone_postgres.ts";
import type { Stack } from "../stack.ts";
import { prepareSystem } from "../system.ts";
import { bareDatabase, cloneDatabase } from "./clone_database.ts";

/** Runs a PostgreSQL of its own with the database "bare", a project's before its first migration. */
export async function withScratchPostgres(work: (stack: Stack) => Promise<void>): Promise<void> {
  const system = await prepareSystem((step) => console.log(`  ${step} …`));
  await withPostgres(system, "scratch", async (stack) => {
    await cloneDatabase(stack, "postgres", bareDatabase);
    await work(stack);
  });
}
