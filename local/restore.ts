import { command } from "./command.ts";
import { npmProgram, type System } from "./system.ts";

/** What `supabase db dump` is asked for, file by file in the order in which they are restored: as the docs have it. */
export const dumps: { file: string; options: string[] }[] = [
  { file: "schema.sql", options: [] },
  { file: "data.sql", options: ["--data-only", "--use-copy"] },
  { file: "history_schema.sql", options: ["--schema", "supabase_migrations"] },
  {
    file: "history.sql",
    options: ["--data-only", "--use-copy", "--schema", "supabase_migrations"],
  },
];

/** Dumps a database into a folder that PostgreSQL's programs see. */
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

/** The very script that `supabase db dump` runs; it needs a container where we have the programs. */
async function dumpScript(databaseUrl: string, options: string[]): Promise<string> {
  const printed = await command(
    [npmProgram("supabase"), "db", "dump", `--remote=${databaseUrl}`, "--dry-run", ...options],
    {
      // Outside a project, whose settings would say more.
      cwd: "/tmp",
      env: { NO_COLOR: "1", SUPABASE_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1" },
      failure: "Asking for the dump's script failed",
    },
  );
  return printed.slice(printed.indexOf("#!/usr/bin/env bash"));
}

/** Restores what was dumped into a folder. psql goes on where the target has something already; the log tells of it. */
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
