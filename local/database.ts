import { createHash } from "node:crypto";
import postgres from "postgres";
import { localBucket } from "./bucket.ts";
import { command } from "./run_command.ts";
import { exists, removeIfThere } from "./files.ts";
import { Failure } from "./exit_on_failure.ts";
import { firstNode } from "./processes/postgres.ts";
import {
  apiPoolSize,
  archiveSecret,
  checkout,
  databasePassword,
  notifySecret,
  type Stack,
} from "./stack.ts";
import { npmProgram, type System } from "./system.ts";

/** Creates an empty cluster if there is none, or an incomplete one. */
export async function prepareCluster(
  system: System,
  stack: Stack,
  signal: AbortSignal,
  { data } = firstNode(system, stack),
): Promise<void> {
  if (await exists(readyMark(system, stack))) return;
  await makeCluster(system, data, signal);
}

/** Replaces the folder's content by an empty cluster; the path is PostgreSQL's. */
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
        // The locale of `supabase start` and hosted projects.
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
  /** The folder with supabase/migrations; by default the checkout. */
  project?: string;
  /** Runs before the first migration, when the database is like a new project's. */
  beforeMigrations?: () => Promise<void>;
}

/**
 * Sets up the database like a hosted project and applies all migrations. Returns a warning if an applied migration was
 * edited.
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
  const output = await pushMigrations(stack.databaseUrl, signal, project);
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

/** Opens a connection with times in ISO 8601, whatever the project's setting is. */
export function connect(url: string, settings: Record<string, string | number> = {}): postgres.Sql {
  return postgres(url, {
    max: 1,
    onnotice: () => {},
    connection: { DateStyle: "ISO", ...settings },
  });
}

/** Gives a new cluster the roles, extensions and grants of a project before its first migration. */
export async function makeProject(stack: Stack): Promise<void> {
  const sql = connect(stack.adminDatabaseUrl);
  try {
    await sql.unsafe(await Deno.readTextFile(`${checkout}/local/database/roles.sql`));
  } finally {
    await sql.end();
  }
}

/** Tells the database the address of logloom-notify and PostgREST's number of connections. */
async function describeStack(stack: Stack): Promise<void> {
  const sql = connect(stack.databaseUrl);
  try {
    await sql`
      update logloom_private.notify_endpoint
      set url = ${`${stack.internalUrl}/functions/v1/logloom-notify`}, secret = ${notifySecret}
      where singleton`;
    // Forgets the project's address, because the stack may have other ports now. Version 1.0.0 remembers no address.
    await sql.unsafe(`do $$
      begin
        update logloom_private.installation set project_url = null where singleton;
      exception when undefined_column then null;
      end $$`);
    await describeArchive(sql, stack);
    await sql`update logloom_private.settings set api_pool_size = ${apiPoolSize} where singleton`;
    // pg_cron misses jobs that are committed while it reads its list of jobs.
    await sql`select logloom_private.schedule_jobs()`;
  } finally {
    await sql.end();
  }
}

/** Tells the database the address of logloom-archive, and forgets the bucket of an earlier start. */
async function describeArchive(sql: postgres.Sql, stack: Stack): Promise<void> {
  await sql`
    update logloom_private.archive_endpoint
    set url = ${`${stack.internalUrl}/functions/v1/logloom-archive`}, secret = ${archiveSecret}
    where singleton`;
  // The local bucket is in memory, so it is gone.
  await sql`
    with was as (
      update logloom_private.settings
      set archive_bucket = null, archive_plan_every = default
      where archive_bucket = ${localBucket}
      returning archive_bucket
    ), parts as (
      delete from logloom.archive_parts where exists (select from was)
    ), garbage as (
      delete from logloom_private.archive_garbage where exists (select from was)
    ), days as (
      delete from logloom_private.archived_days where exists (select from was)
    ), notes as (
      delete from logloom_private.archive_notes where exists (select from was)
    )
    update logloom.plans set archive_days = 0
    where archive_days = 365 and exists (select from was)`;
}

/** Lets every plan archive into the local bucket soon, so that you can watch it. */
export async function archiveInto(stack: Stack): Promise<void> {
  const sql = connect(stack.databaseUrl);
  try {
    await sql`
      update logloom_private.settings
      set archive_bucket = ${localBucket}, archive_plan_every = '10 seconds'
      where singleton`;
    await sql`update logloom.plans set archive_days = 365 where archive_days = 0`;
  } finally {
    await sql.end();
  }
}

/** Returns a digest of each migration by its file name. */
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

/** Runs the same command as for a hosted project. Returns its message if it fails. */
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

/** This file exists once the database is complete. Without it the next start begins again. */
export function readyMark(system: System, stack: Stack): string {
  return system.outside(`${system.folder(stack)}/database-is-ready`);
}
