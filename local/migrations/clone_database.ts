import postgres from "postgres";
import { command } from "../run_command.ts";
import { databaseUrl, type Stack } from "../stack.ts";
import { npmProgram } from "../system.ts";

/** A project's database before its first migration; others are cloned from it. */
export const bareDatabase = "bare";

/** Clones a database of the stack. The template must have no connections, so pg_cron's launcher is kept out. */
export async function cloneDatabase(stack: Stack, template: string, name: string): Promise<string> {
  const sql = postgres(databaseUrl("supabase_admin", stack.ports.postgres, "template1"), {
    max: 1,
    onnotice: () => {},
  });
  try {
    await sql`alter database ${sql(template)} with allow_connections false`;
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${template}`;
    await sql`drop database if exists ${sql(name)} with (force)`;
    await sql`create database ${sql(name)} template ${sql(template)} owner postgres`;
    // A clone does not inherit these settings.
    await sql`alter database ${sql(name)} set pgrst.db_schemas to 'public'`;
    // With those of the stack, the migration would have other times on each machine. 05/01/1970 would be another day.
    await sql`alter database ${sql(name)} set datestyle to 'ISO, MDY'`;
    await sql`alter database ${sql(name)} set timezone to 'UTC'`;
  } finally {
    await sql`alter database ${sql(template)} with allow_connections true`;
    await sql.end();
  }
  return databaseUrl("postgres", stack.ports.postgres, name);
}

/** Runs SQL files like migrations: as postgres, each in a transaction. */
export async function applySql(
  url: string,
  files: { path: string; text: string }[],
): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    for (const { path, text } of files) {
      await sql.begin((transaction) => transaction.unsafe(text)).catch((error) => {
        throw new Error(`${path}: ${error.message}`, { cause: error });
      });
    }
  } finally {
    await sql.end();
  }
}

/** Returns the SQL that turns one database's objects into the other's; empty if they are equal. */
export async function difference(from: string, to: string): Promise<string> {
  const file = await Deno.makeTempFile({ suffix: ".sql" });
  try {
    await command([
      npmProgram("supabase"),
      "db",
      "diff",
      `--from=${from}`,
      `--to=${to}`,
      "--use-pg-delta",
      `--output=${file}`,
    ], {
      failure: "Comparing the databases failed",
      env: { NO_COLOR: "1", SUPABASE_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1" },
    });
    return (await Deno.readTextFile(file)).trim();
  } finally {
    await Deno.remove(file);
  }
}
