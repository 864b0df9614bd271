import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { connect, databaseOf } from "../database.ts";
import { Failure } from "../failure.ts";
import type { Cli } from "../command_line.ts";
import { settingsOf } from "../guest/config.ts";
import { readText, supabaseFolder } from "../guest/files.ts";
import { isMissing } from "../shipping/follow.ts";
import { addressOf } from "../project_options.ts";
import { findSupabaseCli, type SupabaseCli } from "./supabase_cli.ts";

/** A Supabase project in which Logloom is installed: its folder, and a local stack or a hosted project. */
export interface Project {
  /** The project's name in config.toml. */
  readonly name: string;
  /** The folder that contains supabase/. */
  readonly folder: string;
  readonly supabaseFolder: string;
  readonly url: string;
  /** The address at which the database reaches the gateway. */
  readonly urlFromDatabase: string;
  /** The reference of a hosted project; undefined for a local stack. */
  readonly ref: string | undefined;
  readonly linkedRef: string | undefined;
  readonly supabase: SupabaseCli;
  /** The options that tell `supabase db push` its target. */
  readonly pushTarget: readonly string[];
  /** Undefined if the database is reachable only through the Management API. */
  readonly databaseUrl: string | undefined;
  query: Query;
  close(): Promise<void>;
}

/** Runs a statement as `postgres`, and returns its rows. */
export type Query = <Row = Record<string, unknown>>(sql: string) => Promise<Row[]>;

export interface ProjectOptions {
  readonly local?: true;
  readonly remote?: true;
  readonly url?: string;
}

export async function openProject(
  cli: Cli,
  named: string,
  { local, remote, url }: ProjectOptions,
): Promise<Project> {
  if (local && remote) throw new Failure("say --local or --remote, not both.");
  const supabase = resolve(await supabaseFolder(named, cli.supabase));
  const folder = dirname(supabase);
  const settings = settingsOf(await readText(`${supabase}/config.toml`));
  const linkedRef = await readLinkedRef(supabase);
  if (remote && linkedRef === undefined) {
    throw new Failure(`${folder} is not linked: supabase link --project-ref <ref> there.`);
  }
  const program = await findSupabaseCli(folder, cli.signal);
  const common = {
    name: String(settings("project_id") ?? basename(folder)),
    folder,
    supabaseFolder: supabase,
    linkedRef,
    supabase: program,
  };
  if (remote) {
    const ref = linkedRef!;
    const database = await databaseOf(cli, undefined);
    const project = url === undefined ? `https://${ref}.supabase.co` : addressOf(url);
    return {
      ...common,
      url: project,
      urlFromDatabase: project,
      ref,
      databaseUrl: database,
      pushTarget: [database === undefined ? "--remote" : `--remote=${database}`],
      ...database === undefined ? throughCli(program) : directly(database),
    };
  }
  const databaseUrl = `postgresql://postgres:postgres@127.0.0.1:${
    settings("db", "port") ?? 54322
  }/postgres`;
  const gateway = `http://127.0.0.1:${settings("api", "port") ?? 54321}`;
  return {
    ...common,
    url: url === undefined ? gateway : addressOf(url),
    urlFromDatabase: settings("experimental", "stack") === true ? gateway : "http://kong:8000",
    ref: undefined,
    pushTarget: [],
    databaseUrl,
    ...directly(databaseUrl),
  };
}

async function readLinkedRef(supabase: string): Promise<string | undefined> {
  try {
    return (await readFile(`${supabase}/.temp/project-ref`, "utf8")).trim() || undefined;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Connects to a database by its address. */
export function directly(databaseUrl: string): Pick<Project, "query" | "close"> {
  const sql = connect(databaseUrl);
  async function query<Row>(text: string): Promise<Row[]> {
    try {
      const result: unknown[] = await sql.unsafe(text);
      return result as Row[];
    } catch (error) {
      const { code, message } = error as { code?: string; message: string };
      if (code === "ECONNREFUSED") {
        const { host } = new URL(databaseUrl);
        throw new Failure(
          `no database answers at ${host}. Start it (a local stack: supabase start), or add ` +
            "--remote for the hosted project.",
        );
      }
      throw new Failure(code === undefined ? message : `${code}: ${message}`);
    }
  }
  return { query, close: () => sql.end({ timeout: 5 }) };
}

/**
 * Runs queries through the Management API, without the database's password. A statement is passed in a file, because it
 * may have secrets.
 */
function throughCli(program: SupabaseCli): Pick<Project, "query" | "close"> {
  return {
    query: (text) =>
      withSecretFile(text, async (file) => {
        const args = [
          "db",
          "query",
          "--remote",
          "--yes",
          "--output-format",
          "json",
          "--file",
          file,
        ];
        return JSON.parse(await program.run(args));
      }),
    close: () => Promise.resolve(),
  };
}

/** Writes a text into a file that only this user can read, and removes the file afterwards. */
export async function withSecretFile<Result>(
  text: string,
  use: (file: string) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), "logloom-"));
  try {
    const file = join(folder, "input");
    await writeFile(file, text, { mode: 0o600 });
    return await use(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Quotes a text as an SQL literal. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
