import { command } from "../../local/command.ts";
import { makeCluster } from "../../local/database.ts";
import { removeIfThere } from "../../local/files.ts";
import {
  firstNode,
  type Node,
  postgresProcess,
  workerNodes,
} from "../../local/processes/postgres.ts";
import { databasePassword, stackNamed } from "../../local/stack.ts";
import { Supervisor } from "../../local/supervisor.ts";
import { findSystem, type System } from "../../local/system.ts";
import { onNode } from "./node_database.ts";

export const stack = stackNamed("scratch");
const found = await findSystem();
if (found === null) throw new Error("the stack that is tested runs on a system");
const system: System = found;

/** The coordinator and the workers of the stack, and the first place that is left for another. */
export const coordinator = firstNode(system, stack);
export const workers = workerNodes(system, stack, 2);
export const third = workerNodes(system, stack, 3)[2];

/** Runs servers beside the stack's own until the test leaves its scope. */
export async function startServers(
  servers: { node: Node; settings?: Record<string, string> }[],
): Promise<AsyncDisposable> {
  const logs = `${stack.folder}/logs/beside`;
  await Deno.mkdir(logs, { recursive: true });
  const supervisor = new Supervisor(logs, () => {});
  const stop = async () => {
    await supervisor.stop();
    for (const { node } of servers) await removeIfThere(system.outside(node.data));
  };
  try {
    for (const { node, settings = {} } of servers) {
      const definition = postgresProcess(system, stack, node, true);
      const options = Object.entries(settings).flatMap((
        [name, value],
      ) => ["-c", `${name}=${value}`]);
      await supervisor.start({ ...definition, command: [...definition.command, ...options] });
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { [Symbol.asyncDispose]: stop };
}

/** An empty server with Citus, that no other knows yet. */
export async function startEmptyServer(node: Node): Promise<AsyncDisposable> {
  await makeCluster(system, node.data);
  const running = await startServers([{ node }]);
  await using sql = onNode(node.port);
  await sql`create extension citus`;
  return running;
}

/** A copy of a running server's files, to be started elsewhere with the log of the first one. */
export async function copyOf(node: Node, port: number): Promise<Node> {
  const data = `${system.folder(stack)}/copies/${node.name}`;
  await removeIfThere(system.outside(data));
  await system.makeFolder("postgres", data);
  await command(
    system.command("postgres", `${system.postgresBin}/pg_basebackup`, [
      `--dbname=postgresql://supabase_admin@127.0.0.1:${node.port}/postgres`,
      `--pgdata=${data}`,
      "--wal-method=none",
      "--checkpoint=fast",
    ]),
    { cwd: "/", env: { PGPASSWORD: databasePassword }, failure: "The base backup failed" },
  );
  await system.writeFile("postgres", `${data}/recovery.signal`, "");
  return { name: node.name, port, data };
}
