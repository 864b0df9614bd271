import { makeProject, prepareCluster, removeCluster } from "./database.ts";
import { removeIfThere } from "./files.ts";
import { postgresProcess } from "./processes/postgres.ts";
import { type Stack, type StackName, stackNamed } from "./stack.ts";
import { Supervisor } from "./supervisor.ts";
import type { System } from "./system.ts";
import { clearTheWay } from "./start_stack.ts";

/**
 * Starts only the PostgreSQL of a stack, with the given settings and a project's database without migrations. Runs
 * `work`, then removes everything.
 */
export async function withPostgres<Result>(
  system: System,
  name: StackName,
  work: (stack: Stack) => Promise<Result>,
  settings: Record<string, string> = {},
): Promise<Result> {
  const stack = stackNamed(name);
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
  const signals: Deno.Signal[] = ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals) Deno.addSignalListener(signal, interrupt);
  try {
    await prepareCluster(system, stack, interrupted.signal);
    const server = postgresProcess(system, stack);
    const options = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    await supervisor.start({ ...server, command: [...server.command, ...options] });
    await makeProject(stack);
    return await work(stack);
  } finally {
    for (const signal of signals) Deno.removeSignalListener(signal, interrupt);
    await clear();
  }
}
