import { type Database, openDatabase } from "../support/database.ts";
import { databaseUrl } from "../../local/stack.ts";

/** A superuser's connection to one node; it may be cut. */
export function onNode(port: number): Database {
  return openDatabase(databaseUrl("supabase_admin", port, "postgres"), 1, { isCut: true });
}
