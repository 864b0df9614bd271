import { createHash } from "node:crypto";
import postgres from "postgres";
import { command } from "./command.ts";
import { exists, removeIfThere } from "./files.ts";
import { Failure } from "./failure.ts";
import { firstNode } from "./processes/postgres.ts";
import { apiPoolSize, checkout, databasePassword, notifySecret, type Stack } from "./stack.ts";
import { npmProgram, type System } from "./system.ts";

/** Makes an empty cluster where there is none, or only half of one. */
export async function prepareCluster(
  system: System,
  stack: Stack,
  signal: AbortSignal,
  { data } = firstNode(system, stack),
): Promise<void> {
  if (await exists(readyMark(system, stack))) return;
  await makeCluster(system, data, signal);
}

/** Makes an empty cluster in the place of whatever is in its folder, which is named as PostgreSQL sees it. */
export async function makeCluster(
  system: System,
  data: string,
  signal?: AbortSignal,
): Promise<void> {
  await removeIfThere(system.outside(data));
  await system.makeFolder("postgres", data);

  const passwordFile = `${data}.password`;
  await system.writeFile("postgres", passwordFile, databasePassword);
  try {
    await command(
      system.command("postgres", `${system.postgresBin}/initdb`, [
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
      {
        failure: "Creating the database failed",
        cwd: "/",
        env: { LC_ALL: "C.UTF-8", TZ: "UTC" },
        signal,
      },
    );
  } finally {
    await removeIfThere(system.outside(passwordFile));
  }
}

export interface DatabaseOptions {
  /** The folder whose supabase/migrations are applied, where it is not the checkout. */
  project?: string;
  /** Runs when the database is what a project has before its first migration. */
  beforeMigrations?: () => Promise<void>;
}

/**
 * Brings the database of a running PostgreSQL to what a hosted project is, and the migrations to the last one.
 * Gives back a warning where a migration that it has was edited since.
 */
export async function prepareDatabase(
  system: System,
  stack: Stack,
  signal: AbortSignal,
  { project = checkout, beforeMigrations }: DatabaseOptions = {},
): Promise<string | null> {
  const mark = readyMark(system, stack);
  const before = await exists(mark);
  const applied = before ? JSON.parse(await Deno.readTextFile(mark)) as Digests : {};
  const now = await migrationDigests();
  if (!before) {
    await makeProject(stack);
    await beforeMigrations?.();
  }
  // The first migration installs in these alone (docs/guides/guest.md), whatever the database has.
  const databaseUrl = `${stack.databaseUrl}?timezone=UTC&datestyle=ISO`;
  const output = await pushMigrations(databaseUrl, signal, project);
  if (output !== null) {
    const hint = before ? "\n\nnpm run reset starts over with the migrations as they are now." : "";
    throw new Failure(`supabase db push --remote failed:\n\n${output}${hint}`);
  }
  await describeStack(stack);
  await Deno.writeTextFile(mark, JSON.stringify({ ...now, ...applied }));
  const edited = Object.keys(applied).filter((name) => applied[name] !== now[name]);
  return edited.length === 0
    ? null
    : `Edited since they were applied: ${
      edited.join(", ")
    }. npm run reset starts over with an empty database.`;
}

/** Gives a new cluster the roles, extensions and grants that a project has before its first migration. */
export async function makeProject(stack: Stack): Promise<void> {
  const sql = postgres(stack.adminDatabaseUrl, { max: 1, onnotice: () => {} });
  try {
    await sql.unsafe(await Deno.readTextFile(`${checkout}/local/database/roles.sql`));
  } finally {
    await sql.end();
  }
}

/** Tells the database where this stack's function logloom-notify is, and how many connections PostgREST has. */
async function describeStack(stack: Stack): Promise<void> {
  const sql = postgres(stack.databaseUrl, { max: 1, onnotice: () => {} });
  try {
    await sql`
      update logloom_private.notify_endpoint
      set url = ${`${stack.internalUrl}/functions/v1/logloom-notify`}, secret = ${notifySecret}
      where singleton`;
    await sql`update logloom_private.settings set api_pool_size = ${apiPoolSize} where singleton`;
  } finally {
    await sql.end();
  }
}

/** A digest of each migration by its file name. */
type Digests = Record<string, string>;

async function migrationDigests(): Promise<Digests> {
  const folder = `${checkout}/supabase/migrations`;
  const digests: Digests = {};
  for await (const { name } of Deno.readDir(folder)) {
    const text = await Deno.readTextFile(`${folder}/${name}`);
    digests[name] = createHash("sha256").update(text).digest("hex");
  }
  return digests;
}

/** The very command that brings a hosted project up to date; gives back what it said when it failed. */
export async function pushMigrations(
  databaseUrl: string,
  signal?: AbortSignal,
  project = checkout,
): Promise<string | null> {
  const { success, stdout, stderr } = await new Deno.Command(npmProgram("supabase"), {
    args: ["db", "push", `--remote=${databaseUrl}`, "--include-seed", "--yes"],
    cwd: project,
    signal,
    env: { NO_COLOR: "1", SUPABASE_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).output();
  const decoder = new TextDecoder();
  return success ? null : `${decoder.decode(stdout)}${decoder.decode(stderr)}`.trim();
}

export async function removeCluster(system: System, stack: Stack): Promise<void> {
  await removeIfThere(system.outside(system.folder(stack)));
}

/** Written when the database is complete: without it everything begins anew. */
export function readyMark(system: System, stack: Stack): string {
  return system.outside(`${system.folder(stack)}/database-is-ready`);
}
