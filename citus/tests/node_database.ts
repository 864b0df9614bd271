import { type Database, openDatabase } from "../../tests/support/database.ts";
import type { Tenant } from "../../tests/support/client.ts";
import { databaseUrl } from "../../local/stack.ts";

/** Opens a superuser's connection to one node. Tests may kill the node meanwhile. */
export function onNode(port: number): Database {
  return openDatabase(databaseUrl("supabase_admin", port, "postgres"), 1, { isCut: true });
}

/** Returns the port of the node that has the tenant's records. */
export async function nodeOf(sql: Database, { id }: Tenant): Promise<number> {
  const [{ nodeport }] = await sql`
    select p.nodeport
    from pg_dist_shard_placement p
    where p.shardid = get_shard_id_for_distribution_column('logloom.logs', ${id}::text)`;
  return nodeport;
}

/** The sharded tables, sorted. */
export const shardedTables = [
  "logloom.logs",
  "logloom_private.block_columns",
  "logloom_private.blocks",
  "logloom_private.log_counts",
  "logloom_private.log_days",
];
