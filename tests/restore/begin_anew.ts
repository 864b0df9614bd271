import postgres from "postgres";
import { bareDatabase } from "../../local/migrations/clone_database.ts";
import { databaseUrl, type Stack } from "../../local/stack.ts";
import { grantsUntilOctober2026 } from "../support/legacy_grants.ts";

/** Replaces the stack's database by a new project's, and keeps the old one under another name. */
export async function beginAnew(of: Stack): Promise<void> {
  const sql = postgres(databaseUrl("supabase_admin", of.ports.postgres, "template1"), {
    max: 1,
    onnotice: () => {},
  });
  try {
    for (const name of ["postgres", bareDatabase]) {
      await sql`alter database ${sql(name)} with allow_connections false`;
      await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`;
    }
    const [{ earlier }] = await sql`
      select count(*)::integer as earlier from pg_database
      where datname like 'before_the_restore_%'`;
    await sql`alter database postgres rename to ${sql(`before_the_restore_${earlier}`)}`;
    await sql`create database postgres template ${sql(bareDatabase)} owner postgres`;
    await sql`alter database postgres set pgrst.db_schemas to 'public'`;
    await sql`alter role authenticator reset pgrst.db_pre_request`;
  } finally {
    await sql`alter database ${sql(bareDatabase)} with allow_connections true`;
    await sql.end();
  }
  const empty = postgres(of.adminDatabaseUrl, { max: 1 });
  await empty.unsafe(grantsUntilOctober2026);
  await empty.end();
}
