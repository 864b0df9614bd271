import postgres from "postgres";
import { connect, databaseOf } from "../database.ts";
import { Failure } from "../failure.ts";
import { type Cli, type Command, newCommand } from "../frame.ts";
import { functionNames, nameIn, readManifest, readText, supabaseFolder } from "../guest/files.ts";

interface Options {
  deleteArchive?: true;
  keepArchive?: true;
  project?: string;
  yesDeleteAllLogs?: true;
}

export function uninstallCommand(cli: Cli): Command {
  return newCommand(cli, "uninstall", "Removes Logloom with all of its logs from a database", {
    examples: [
      "postgresql://postgres@db.myproject.supabase.co:5432/postgres --yes-delete-all-logs",
    ],
    notes: `${warning}

The address is an argument or LOGLOOM_DATABASE_URL. A password that it lacks is PGPASSWORD's, or is
asked for. The SQL is supabase/uninstall.sql.`,
  })
    .argument("[database-url]", "postgresql://…")
    .option("--yes-delete-all-logs", "needed, so that nobody does it by mistake")
    .option("--keep-archive", "leaves the files of the archive in their bucket")
    .option("--delete-archive", "deletes them first, by the function logloom-archive")
    .option("--project <folder>", "where install-into wrote to: the names of its functions")
    .action(async (named: string | undefined, options: Options) => {
      console.log(`${warning}\n`);
      if (!options.yesDeleteAllLogs) {
        throw new Failure("Nothing was done: --yes-delete-all-logs is missing.");
      }
      const project = options.project === undefined ? undefined : cli.path(options.project);
      const next = await afterwards(cli.supabase, project);
      const databaseUrl = await databaseOf(cli, named);
      if (databaseUrl === undefined) {
        throw new Failure("Say which database: postgresql://…; --help says more.");
      }
      if (options.keepArchive && options.deleteArchive) {
        throw new Failure("Say --keep-archive or --delete-archive, not both.");
      }
      const archive = options.keepArchive ? "keep" : options.deleteArchive ? "delete" : undefined;
      const isRemoved = await uninstall(
        databaseUrl,
        cli.supabase,
        console.log,
        archive,
        cli.signal,
      );
      console.log(isRemoved ? `\n${next}` : "Logloom is not in this database.");
    });
}

const warning = `This removes Logloom with all of its logs from the database, for good.

If Auth's access-token hook is Logloom's, switch it off first (dashboard: Authentication, Hooks; on a
local stack [auth.hook.custom_access_token] in config.toml). Otherwise nobody can sign in, because
Auth calls a function that is gone.`;

/** The next steps after the removal from the database, with the names in this project if known. */
export async function afterwards(source: string, project?: string): Promise<string> {
  const functions = await functionsIn(source, project);
  const other = project === undefined
    ? "\n\nIf you installed with --health-as NAME, Logloom's function is NAME, and health is your own."
    : "";
  return `Logloom is removed from the database. Remove its files from the project's folder too: the migrations
named …_logloom*.sql (the next supabase db push --remote would install it again), the folders
_logloom, ${functions.join(", ")} of supabase/functions,
and the block in config.toml. Remove the deployed functions:

${functions.map((name) => `  supabase functions delete ${name}`).join("\n")}${other}`;
}

/** A lock timeout, or a deadlock with a request under way: try again. */
const transient = new Set(["40P01", "55P03", "57014", "XX000"]);

/** The step that stops while the archive has files. */
export const archiveStep = "no file of the archive is forgotten";

/** The statements of supabase/uninstall.sql, each with its purpose. */
export async function uninstallSteps(source: string): Promise<{ title: string; sql: string }[]> {
  const text = await readText(`${source}/uninstall.sql`);
  return text.split(/^-- step: /m).slice(1).map((part) => {
    const [title, ...lines] = part.split("\n");
    return { title, sql: lines.join("\n") };
  });
}

/** Removes Logloom; false if it was not installed. Each step is one or more transactions. */
export async function uninstall(
  databaseUrl: string,
  source: string,
  say: (line: string) => void = console.log,
  archive?: "keep" | "delete",
  signal?: AbortSignal,
): Promise<boolean> {
  const sql = connect(databaseUrl, ({ severity, message }) => {
    if (severity === "WARNING") say(`  ${message}`);
  });
  signal?.addEventListener("abort", () => sql.end({ timeout: 0 }));
  try {
    const [{ installed }] = await sql`
      select to_regclass('logloom_private.installation') is not null as installed`;
    if (!installed) return false;
    await sql`set statement_timeout = 0`;
    for (const { title, sql: statement } of await uninstallSteps(source)) {
      // Not before it is known that nothing of the project is in the way.
      if (title === archiveStep) await leaveArchive(sql, say, archive);
      say(`  ${title} …`);
      await patiently(() => sql.unsafe(statement).simple());
    }
    return true;
  } finally {
    await sql.end();
  }
}

/** Deletes the files of the archive, or says where they stay. */
async function leaveArchive(
  sql: postgres.Sql,
  say: (line: string) => void,
  archive: "keep" | "delete" | undefined,
): Promise<void> {
  const [{ has_archive }] = await sql`
    select to_regclass('logloom.archive_parts') is not null as has_archive`;
  if (!has_archive || archive === undefined) return;
  if (archive === "keep") {
    const [{ files, place }] = await sql`
      select (select count(*)::integer from logloom.archive_parts) as files,
        format('%s/%s/v1/', s.archive_bucket, s.archive_prefix) as place
      from logloom_private.settings s`;
    if (files > 0) say(`  ${files} files of the archive stay in ${place}`);
    await sql`set logloom.archive_is_kept = 'on'`;
    return;
  }
  await sql`select logloom_private.delete_archive()`;
  let least = Infinity;
  for (let waited = 0; waited < patience;) {
    const [{ files, problem }] = await sql`
      select (select count(*)::integer from logloom_private.archive_garbage) as files, b.problem
      from logloom_private.archive_bucket b`;
    if (files === 0) return;
    if (problem) throw new Failure(`The files of the archive cannot be deleted: ${problem}`);
    if (files < least) {
      say(`  ${files} files of the archive are to be deleted …`);
      least = files;
      waited = 0;
    }
    await patiently(() => sql`select logloom_private.archive_step()`);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    waited += 1;
  }
  throw new Failure("The function logloom-archive deletes no more files: is it deployed?");
}

/** Seconds without a deleted file after which nobody deletes any. */
const patience = 120;

/** The functions by the names that install-into gave them in this project. */
async function functionsIn(source: string, project?: string): Promise<string[]> {
  if (project === undefined) return [...functionNames];
  const { health } = await readManifest(`${await supabaseFolder(project, source)}/functions`);
  return functionNames.map(nameIn(health));
}

async function patiently(step: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1;; attempt++) {
    try {
      await step();
      return;
    } catch (error) {
      if (!(error instanceof postgres.PostgresError)) throw error;
      if (attempt >= 10 || !transient.has(error.code)) {
        throw new Failure(`${error.message}${error.hint ? `\n${error.hint}` : ""}`);
      }
    }
  }
}
