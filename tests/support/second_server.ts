import { command } from "../../local/run_command.ts";
import { removeIfThere } from "../../local/files.ts";
import { type Node, postgresProcess } from "../../local/processes/postgres.ts";
import { databasePassword, stackNamed } from "../../local/stack.ts";
import { type ProcessDefinition, Supervisor } from "../../local/supervisor.ts";
import { findSystem, type System } from "../../local/system.ts";

/** The stack of a step that has its own stack. */
export const stack = stackNamed("scratch");
const found = await findSystem();
if (found === null) throw new Error("the stack that is tested runs on a system");
export const system: System = found;

/** Runs further processes until the end of the scope. */
export async function startBeside(definitions: ProcessDefinition[]): Promise<AsyncDisposable> {
  const logs = `${stack.folder}/logs/beside`;
  await Deno.mkdir(logs, { recursive: true });
  const supervisor = new Supervisor(logs, () => {});
  const stop = () => supervisor.stop();
  try {
    for (const definition of definitions) await supervisor.start(definition);
  } catch (error) {
    await stop();
    throw error;
  }
  return { [Symbol.asyncDispose]: stop };
}

/** Starts a PostgreSQL server like the stack's, with further settings. */
export function server(
  node: Node,
  settings: Record<string, string> = {},
  isOneOfSeveral = false,
): ProcessDefinition {
  const definition = postgresProcess(system, stack, node, isOneOfSeveral);
  const options = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  return { ...definition, command: [...definition.command, ...options] };
}

/** Makes a base backup of a running server, without WAL. */
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
  return { name: node.name, port, data };
}
