import postgres from "postgres";
import { Failure, run } from "../local/failure.ts";
import { checkout } from "../local/stack.ts";
import { parseOptions } from "./options.ts";

const warning = `This removes Logloom with all of its logs from the database, for good.

First, where Auth's access-token hook is Logloom's, switch it off (dashboard: Authentication, Hooks;
or [auth.hook.custom_access_token] in config.toml, then supabase config push): Auth stops signing
in without the function that it calls.`;

const afterwards =
  `Logloom is gone from the database. What it put into the project's folder remains:
the migrations named …_logloom*.sql (the next supabase db push would install it again), the functions
ingest, health and logloom-notify with _logloom, and the block in config.toml. Remove the deployed ones with
supabase functions delete ingest (health, logloom-notify).`;

const help = `${warning}

Usage: npm run uninstall -- DATABASE_URL --yes-delete-all-logs

The SQL is supabase/uninstall.sql.`;

/** A lock that was not given in time, or a deadlock with a request that was under way: it is tried again. */
const transient = new Set(["40P01", "55P03", "57014", "XX000"]);

/** The statements of supabase/uninstall.sql, each with what it is for. */
export async function uninstallSteps(): Promise<{ title: string; sql: string }[]> {
  const text = await Deno.readTextFile(`${checkout}/supabase/uninstall.sql`);
  return text.split(/^-- step: /m).slice(1).map((part) => {
    const [title, ...lines] = part.split("\n");
    return { title, sql: lines.join("\n") };
  });
}

/** Removes Logloom; false where it was not there. Each step is a transaction or several of its own. */
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
    console.log(
      await uninstall(databaseUrl) ? `\n${afterwards}` : "Logloom is not in this database.",
    );
  });
}
