import postgres from "postgres";
import { exists, removeIfThere } from "../../local/files.ts";
import { Failure } from "../../local/exit_on_failure.ts";
import { readyMark } from "../../local/database.ts";
import type { Node } from "../../local/processes/postgres.ts";
import { checkout, databaseUrl, type Stack } from "../../local/stack.ts";
import type { System } from "../../local/system.ts";

/** The number of shards. Each shard adds a table a day. Twelve shards divide evenly over 1, 2, 3 and 4 nodes. */
export const localShards = 12;

/**
 * Returns the number of workers, without the coordinator; 0 for a single server. A stack with data keeps its number.
 */
export async function workersOf(
  system: System,
  stack: Stack,
  wanted: number | undefined,
): Promise<number> {
  const file = system.outside(`${system.folder(stack)}/workers`);
  const isComplete = await exists(readyMark(system, stack));
  const before = isComplete && (await exists(file)) ? Number(await Deno.readTextFile(file)) : 0;
  const workers = wanted ?? before;
  if (isComplete) requireSameWorkers(stack, before, workers);
  if (workers > 0 && !system.hasCitus) {
    throw new Failure(
      `Citus is not installed in PostgreSQL at ${
        system.outside(system.postgresBin)
      }. Install the ` +
        "vendor's packages for PostgreSQL 17, or set LOGLOOM_POSTGRES to the folder with the " +
        "programs of a PostgreSQL 17 that has Citus, pg_cron, pg_partman, pgTAP, plpgsql_check " +
        "and http.",
    );
  }
  await removeIfThere(file);
  if (workers > 0) {
    await system.makeFolder("postgres", system.folder(stack));
    await Deno.writeTextFile(file, `${workers}`);
  }
  return workers;
}

/** Fails if the stack's data is sharded over a different number of workers than wanted. */
export function requireSameWorkers(
  stack: Pick<Stack, "name">,
  workers: number,
  wanted: number | undefined,
): void {
  if (wanted === undefined || wanted === workers) return;
  const where = workers === 0 ? "on a single server" : `sharded over ${workers} workers`;
  throw new Failure(
    `The ${stack.name} stack's data are ${where}. npm run reset removes them; ` +
      `then it starts with --citus ${wanted}.`,
  );
}

/** Does what an operator does: registers the workers with the coordinator and shards the tables. */
export async function shardOverNodes(stack: Stack, workers: Node[]): Promise<void> {
  const onNode = async (port: number, work: (sql: postgres.Sql) => Promise<unknown>) => {
    const sql = postgres(databaseUrl("supabase_admin", port, "postgres"), {
      max: 1,
      onnotice: () => {},
    });
    try {
      await work(sql);
    } finally {
      await sql.end();
    }
  };
  for (const { port } of workers) {
    await onNode(port, (sql) => sql`create extension if not exists citus`);
  }
  await onNode(stack.ports.postgres, async (sql) => {
    await sql`create extension if not exists citus`;
    await sql`select citus_set_coordinator_host('127.0.0.1', ${stack.ports.postgres})`;
    for (const { port } of workers) {
      await sql`
        select citus_add_node('127.0.0.1', ${port})
        where not exists (select from pg_dist_node n where n.nodeport = ${port})`;
    }
    // The extension puts views into the API's schema. API users must not see them.
    await sql`revoke all on public.citus_tables, public.citus_schemas from public`;
    await installLayer(sql);
    await sql`select logloom_citus.enable(${localShards})`;
  });
}

/** Installs the layer or updates it to this checkout: runs the includes of citus/install.psql. */
export async function installLayer(sql: postgres.Sql): Promise<void> {
  const folder = `${checkout}/citus`;
  const install = await Deno.readTextFile(`${folder}/install.psql`);
  const paths = [...install.matchAll(/^\\ir (.+)$/gm)].map(([, path]) => path);
  const texts = await Promise.all(paths.map((path) => Deno.readTextFile(`${folder}/${path}`)));
  await sql.begin((sql) => sql.unsafe(texts.join("\n")).simple());
}
