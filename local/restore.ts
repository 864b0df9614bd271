import { command } from "./run_command.ts";
import { npmProgram, type System } from "./system.ts";

/** The options of `supabase db dump` for each file, in the order of restoring, as in the docs. */
export const dumps: { file: string; options: string[] }[] = [
  { file: "schema.sql", options: [] },
  { file: "data.sql", options: ["--data-only", "--use-copy"] },
  { file: "history_schema.sql", options: ["--schema", "supabase_migrations"] },
  {
    file: "history.sql",
    options: ["--data-only", "--use-copy", "--schema", "supabase_migrations"],
  },
];

/** Dumps a database into a folder that PostgreSQL's programs can read. */
export async function dumpInto(system: System, databaseUrl: string, folder: string): Promise<void> {
  await system.makeFolder("postgres", folder);
  for (const { file, options } of dumps) {
    const script = await dumpScript(databaseUrl, options);
    await command(
      system.command("postgres", "/bin/bash", [
        "-c",
        `exec >'${folder}/${file}'; PATH=${system.postgresBin}:$PATH; ${script}`,
      ]),
      { cwd: "/", failure: "Dumping failed" },
    );
  }
}

/** Returns the script that `supabase db dump` runs. The CLI itself would need a container, but we have the programs. */
async function dumpScript(databaseUrl: string, options: string[]): Promise<string> {
  const printed = await command(
    [npmProgram("supabase"), "db", "dump", `--remote=${databaseUrl}`, "--dry-run", ...options],
    {
      // The command runs outside any project, because a project's settings would change the output.
      cwd: "/tmp",
      env: { NO_COLOR: "1", SUPABASE_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1" },
      failure: "Asking for the dump's script failed",
    },
  );
  return printed.slice(printed.indexOf("#!/usr/bin/env bash"));
}

/** Restores a dump. psql continues if an object exists already, and the log shows it. */
export async function restoreFrom(
  system: System,
  folder: string,
  databaseUrl: string,
  log: string,
): Promise<void> {
  await command(
    system.command("postgres", `${system.postgresBin}/psql`, [
      "--quiet",
      "--no-psqlrc",
      `--dbname=${databaseUrl}`,
      ...dumps.map(({ file }) => `--file=${folder}/${file}`),
    ]),
    { cwd: "/", log, failure: "Restoring failed" },
  );
}
