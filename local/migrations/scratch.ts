import { makeProject, prepareCluster, removeCluster } from "../database.ts";
import { removeIfThere } from "../files.ts";
import { postgresProcess } from "../processes/postgres.ts";
import { type Stack, stackNamed } from "../stack.ts";
import { Supervisor } from "../supervisor.ts";
import { prepareSystem } from "../system.ts";
import { clearTheWay } from "../up.ts";
import { bareDatabase, cloneDatabase } from "./databases.ts";

/** Runs a PostgreSQL of its own with the database "bare", a project's before its first migration. */
export async function withScratchPostgres(work: (stack: Stack) => Promise<void>): Promise<void> {
  const stack = stackNamed("scratch");
  const system = await prepareSystem((step) => console.log(`  ${step} …`));
  await clearTheWay(stack);
  await removeCluster(system, stack);
  const logs = `${stack.folder}/logs`;
  await Deno.mkdir(logs, { recursive: true, mode: 0o700 });
  const supervisor = new Supervisor(logs, () => {});
  const clear = async () => {
    await supervisor.stop();
    await removeCluster(system, stack);
    await removeIfThere(stack.folder);
  };
  const interrupted = new AbortController();
  const interrupt = async () => {
    interrupted.abort();
    await clear();
    Deno.exit(130);
  };
  Deno.addSignalListener("SIGINT", interrupt);
  try {
    await prepareCluster(system, stack, interrupted.signal);
    await supervisor.start(postgresProcess(system, stack));
    await makeProject(stack);
    await cloneDatabase(stack, "postgres", bareDatabase);
    await work(stack);
  } finally {
    Deno.removeSignalListener("SIGINT", interrupt);
    await clear();
  }
}
