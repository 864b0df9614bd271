import { createHash } from "node:crypto";
import postgres from "postgres";
import { command } from "./command.ts";
import { exists, removeIfThere } from "./files.ts";
import { Failure } from "./failure.ts";
import { dataFolder } from "./processes/postgres.ts";
import { checkout, databasePassword, type Stack } from "./stack.ts";
import { npmProgram, postgresBin, type System } from "./system.ts";

/** Makes an empty cluster where there is none, or only half of one. */
export async function prepareCluster(system: System, stack: Stack): Promise<void> {
  const data = dataFolder(system, stack);
  if (await exists(readyMark(system, stack))) return;
  await removeIfThere(system.outside(data));
  await system.makeFolder("postgres", data);

  const passwordFile = `${data}.password`;
  await system.writeFile("postgres", passwordFile, databasePassword);
  try {
    await command(
      system.command("postgres", `${postgresBin}/initdb`, [
        `--pgdata=${data}`,
        "--username=supabase_admin",
        `--pwfile=${passwordFile}`,
        "--auth=scram-sha-256",
        "--encoding=UTF8",
        // As supabase start and hosted projects have it.
        "--locale=C.UTF-8",
        "--locale-provider=icu",
        "--icu-locale=en-US",
      ]),
      { failure: "Creating the database failed", cwd: "/", env: { LC_ALL: "C.UTF-8", TZ: "UTC" } },
    );
  } finally {
    await removeIfThere(system.outside(passwordFile));
  }
}

/** Brings the database of a running PostgreSQL to what a hosted project is, and the migrations to the last one. */
export async function prepareDatabase(system: System, stack: Stack): Promise<void> {
  const mark = readyMark(system, stack);
  if (!(await exists(mark))) {
    const sql = postgres(stack.adminDatabaseUrl, { max: 1, onnotice: () => {} });
    try {
      await sql.unsafe(await Deno.readTextFile(`${checkout}/local/database/roles.sql`));
    } finally {
      await sql.end();
    }
    await Deno.writeTextFile(mark, "");
  }
  await pushMigrations(stack.databaseUrl);
}

/** The very command that brings a hosted project up to date. */
async function pushMigrations(databaseUrl: string): Promise<void> {
  const { success, stdout, stderr } = await new Deno.Command(npmProgram("supabase"), {
    args: ["db", "push", `--remote=${databaseUrl}`, "--include-seed", "--yes"],
    cwd: checkout,
    env: { NO_COLOR: "1", SUPABASE_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).output();
  if (success) return;
  const decoder = new TextDecoder();
  const output = `${decoder.decode(stdout)}${decoder.decode(stderr)}`.trim();
  throw new Failure(`supabase db push failed:\n\n${output}`);
}

export async function removeCluster(system: System, stack: Stack): Promise<void> {
  await removeIfThere(system.outside(system.folder(stack)));
}

/** Changes when a migration is edited: a database made from the older text has to be reset. */
export async function migrationsDigest(): Promise<string> {
  const folder = `${checkout}/supabase/migrations`;
  const names: string[] = [];
  for await (const entry of Deno.readDir(folder)) names.push(entry.name);
  const hash = createHash("sha256");
  for (const name of names.sort()) {
    hash.update(name).update(await Deno.readTextFile(`${folder}/${name}`));
  }
  return hash.digest("hex");
}

function readyMark(system: System, stack: Stack): string {
  return system.outside(`${system.folder(stack)}/database-is-ready`);
}
