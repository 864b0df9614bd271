import postgres from "postgres";
import { Failure, run } from "../local/failure.ts";
import { checkout, functionNames } from "../local/stack.ts";
import { nameIn, readManifest, supabaseFolder } from "./guest/files.ts";
import { parseOptions } from "./options.ts";

const warning = `This removes Logloom with all of its logs from the database, for good.

If Auth's access-token hook is Logloom's, switch it off first (dashboard: Authentication, Hooks; or
[auth.hook.custom_access_token] in config.toml, then supabase config push). Otherwise nobody can sign
in, because Auth calls a function that is gone.`;

/** The next steps after the removal from the database, with the names in this project if known. */
export async function afterwards(project?: string): Promise<string> {
  const functions = await functionsIn(project);
  const other = project === undefined
    ? "\n\nIf you installed with --health-as NAME, Logloom's function is NAME, and health is your own."
    : "";
  return `Logloom is removed from the database. Remove its files from the project's folder too: the migrations
named …_logloom*.sql (the next supabase db push --remote would install it again), the folders
_logloom, ${functions.join(", ")} of supabase/functions,
and the block in config.toml. Remove the deployed functions:

${functions.map((name) => `  supabase functions delete ${name}`).join("\n")}${other}`;
}

const help = `${warning}

Usage: npm run uninstall -- DATABASE_URL --yes-delete-all-logs [--project DIR]

  --project DIR   the folder that install-into wrote to: the names of its functions are then
                  printed. Nothing in it is changed.

The SQL is supabase/uninstall.sql.

Exit code: 0, or 1 after an error.`;

/** A lock timeout, or a deadlock with a request under way: try again. */
const transient = new Set(["40P01", "55P03", "57014", "XX000"]);

/** The statements of supabase/uninstall.sql, each with its purpose. */
export async function uninstallSteps(): Promise<{ title: string; sql: string }[]> {
  const text = await Deno.readTextFile(`${checkout}/supabase/uninstall.sql`);
  return text.split(/^-- step: /m).slice(1).map((part) => {
    const [title, ...lines] = part.split("\n");
    return { title, sql: lines.join("\n") };
  });
}

/** Removes Logloom; false if it was not installed. Each step is one or more transactions. */
export async function uninstall(
  databaseUrl: string,
  say: (line: string) => void = console.log,
): Promise<boolean> {
  const sql = postgres(databaseUrl, {
    max: 1,
    onnotice: ({ severity, message }) => severity === "WARNING" && say(`  ${message}`),
    connect_timeout: 10,
  });
  try {
    const [{ installed }] = await sql`
      select to_regclass('logloom_private.installation') is not null as installed`;
    if (!installed) return false;
    await sql`set statement_timeout = 0`;
    for (const { title, sql: statement } of await uninstallSteps()) {
      say(`  ${title} …`);
      await patiently(() => sql.unsafe(statement).simple());
    }
    return true;
  } finally {
    await sql.end();
  }
}

/** The functions by the names that install-into gave them in this project. */
async function functionsIn(project?: string): Promise<string[]> {
  if (project === undefined) return [...functionNames];
  const { health } = await readManifest(`${await supabaseFolder(project)}/functions`);
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

if (import.meta.main) {
  await run(async () => {
    const { values, positionals: [databaseUrl, ...others] } = parseOptions({
      args: Deno.args,
      allowPositionals: true,
      options: {
        help: { type: "boolean", short: "h" },
        project: { type: "string" },
        "yes-delete-all-logs": { type: "boolean" },
      },
    });
    if (values.help) return console.log(help);
    if (!/^postgres(ql)?:\/\//.test(databaseUrl ?? "") || others.length > 0) {
      throw new Failure("Say which database: npm run uninstall -- DATABASE_URL; --help says more.");
    }
    console.log(`${warning}\n`);
    if (!values["yes-delete-all-logs"]) {
      throw new Failure("Nothing was done: --yes-delete-all-logs is missing.");
    }
    const next = await afterwards(values.project);
    console.log(
      await uninstall(databaseUrl) ? `\n${next}` : "Logloom is not in this database.",
    );
  });
}
