import postgres from "postgres";
import { connect, databaseOf } from "../database.ts";
import { Failure } from "../failure.ts";
import { type Cli, type Command, newCommand } from "../command_line.ts";
import { ourHook } from "../guest/config.ts";
import { readText } from "../guest/files.ts";
import { functionsOfProject, removeInstallation } from "../guest/removal.ts";
import { ownSecrets } from "../init/secrets_step.ts";
import { accessTokenOf, hookSettings, switchHook, tokenHelp } from "../init/management_api.ts";
import { openProject, type ProjectOptions } from "../init/project.ts";
import type { Setup } from "../init/setup.ts";
import type { SupabaseCli } from "../init/supabase_cli.ts";

interface Options extends ProjectOptions {
  deleteArchive?: true;
  keepArchive?: true;
  yesDeleteAllLogs?: true;
}

export function uninstallCommand(cli: Cli): Command {
  return newCommand(cli, "uninstall", "Removes Logloom with all of its logs from a project", {
    examples: [
      "../shop --yes-delete-all-logs",
      "../shop --remote --yes-delete-all-logs",
      "postgresql://postgres@db.myproject.supabase.co:5432/postgres --yes-delete-all-logs",
    ],
    notes: `${warning}

With a folder it switches off the access-token hook, empties the database, deletes the functions and
their secrets, and removes Logloom's files. --remote needs LOGLOOM_DATABASE_URL, and
SUPABASE_ACCESS_TOKEN for the hook. With a database's address it empties the database alone. A
password that the address lacks is PGPASSWORD's, or is asked for. The SQL is
supabase/uninstall.sql.`,
  })
    .argument("[where]", "the project's folder, or postgresql://…; else LOGLOOM_DATABASE_URL")
    .option("--local", "the folder's local stack, which is the default")
    .option("--remote", "the hosted project that the folder is linked to")
    .option("--yes-delete-all-logs", "needed, so that nobody does it by mistake")
    .option("--keep-archive", "leaves the files of the archive in their bucket")
    .option("--delete-archive", "deletes them first, by the function logloom-archive")
    .action(async (where: string | undefined, options: Options) => {
      console.log(`${warning}\n`);
      if (!options.yesDeleteAllLogs) {
        throw new Failure("Nothing was done: --yes-delete-all-logs is missing.");
      }
      if (options.keepArchive && options.deleteArchive) {
        throw new Failure("Say --keep-archive or --delete-archive, not both.");
      }
      if (where === undefined || /^postgres(ql)?:/.test(where)) {
        await uninstallDatabase(cli, where, options);
      } else {
        await uninstallProject(cli, cli.path(where), options);
      }
    });
}

const warning = `This removes Logloom with all of its logs from the database, for good.

If Auth's access-token hook is Logloom's, switch it off first (dashboard: Authentication, Hooks; on a
local stack [auth.hook.custom_access_token] in config.toml). Otherwise nobody can sign in, because
Auth calls a function that is gone.`;

async function uninstallDatabase(
  cli: Cli,
  named: string | undefined,
  options: Options,
): Promise<void> {
  const databaseUrl = await databaseOf(cli, named);
  if (databaseUrl === undefined) {
    throw new Failure("Say which database: postgresql://…; --help says more.");
  }
  if (!await removeFrom(databaseUrl, cli, options)) {
    console.log("Logloom is not in this database.");
    return;
  }
  console.log(`
Logloom is removed from the database. With the project's folder in place of the address, this also
removes its functions and files: without them, the next supabase db push installs it again.`);
}

function removeFrom(
  databaseUrl: string,
  cli: Cli,
  { keepArchive, deleteArchive }: Options,
): Promise<boolean> {
  const archive = keepArchive ? "keep" : deleteArchive ? "delete" : undefined;
  return uninstall(databaseUrl, cli.supabase, console.log, archive, cli.signal);
}

/** Removes everything that init added to a project. It can be run again. */
async function uninstallProject(cli: Cli, folder: string, options: Options): Promise<void> {
  const project = await openProject(cli, folder, options);
  try {
    const { supabase, supabaseFolder, ref } = project;
    if (project.databaseUrl === undefined) {
      throw new Failure(
        "Set LOGLOOM_DATABASE_URL to the database's address (dashboard: Connect, Session pooler).",
      );
    }
    if (ref !== undefined) await leaveHook({ cli, project });
    await removeFrom(project.databaseUrl, cli, options);
    if (ref !== undefined) {
      const deployed = await deployedFunctions(supabase);
      for (const name of await functionsOfProject(supabaseFolder)) {
        if (!deployed.includes(name)) continue;
        await supabase.run(["functions", "delete", name, "--remote", "--yes"]);
        console.log(`  the function ${name} …`);
      }
      await supabase.run(["secrets", "unset", ...ownSecrets, "--remote", "--yes"]);
    }
    await removeInstallation(supabaseFolder, cli.supabase, console.log);
    console.log(`\nLogloom is removed from ${project.name}.`);
    if (ref === undefined) {
      console.log("Start the local stack anew: supabase stop && supabase start");
    }
  } finally {
    await project.close();
  }
}

/** Switches the hook off before its function is dropped, because Auth calls the hook at every sign-in. */
async function leaveHook(setup: Pick<Setup, "cli" | "project">): Promise<void> {
  const token = await accessTokenOf();
  if (token === undefined) {
    throw new Failure(
      `Whether Auth's hook is Logloom's is not known: no access token. ${tokenHelp}`,
    );
  }
  const { isOn, uri } = await hookSettings(setup, token);
  if (!isOn || uri !== ourHook) return;
  await switchHook(setup, token, false);
  console.log("  Auth's access-token hook is off …");
}

async function deployedFunctions(supabase: SupabaseCli): Promise<string[]> {
  const text = await supabase.run(["functions", "list", "--remote", "--output-format", "json"]);
  const { functions } = JSON.parse(text) as { functions: { slug: string }[] };
  return functions.map(({ slug }) => slug);
}

/** Errors after which a step is tried again: a lock timeout, or a deadlock with a running request. */
const transient = new Set(["40P01", "55P03", "57014", "XX000"]);

/** This step fails while the archive has files. */
export const archiveStep = "no file of the archive is forgotten";

/** The statements of supabase/uninstall.sql, each with its purpose. */
export async function uninstallSteps(source: string): Promise<{ title: string; sql: string }[]> {
  const text = await readText(`${source}/uninstall.sql`);
  return text.split(/^-- step: /m).slice(1).map((part) => {
    const [title, ...lines] = part.split("\n");
    return { title, sql: lines.join("\n") };
  });
}

/** Removes Logloom. Returns false if it was not installed. Each step is one or more transactions. */
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
      // Archived files are deleted only after the checks found that nothing of the project uses Logloom.
      if (title === archiveStep) await leaveArchive(sql, say, archive);
      say(`  ${title} …`);
      await patiently(() => sql.unsafe(statement).simple());
    }
    return true;
  } finally {
    await sql.end();
  }
}

/** Deletes the files of the archive, or tells the user where they stay. */
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

/** If no file is deleted for this many seconds, the job that deletes files is considered stopped. */
const patience = 120;

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
