import { databaseOf } from "../database.ts";
import { checkDatabase } from "../doctor/database.ts";
import { type Finding, skipped } from "../doctor/finding.ts";
import { checkHealth, checkKey, checkSession } from "../doctor/service.ts";
import { directly } from "../init/project.ts";
import { exitCodes } from "../failure.ts";
import { type Cli, type Command, newCommand } from "../command_line.ts";
import { columns, harmless } from "../format_lines.ts";
import { isColoured } from "../output.ts";
import { readSender, readSession, type TargetOptions, withTarget } from "../project_options.ts";

export function doctor(cli: Cli): Command {
  return withTarget(newCommand(cli, "doctor", "Checks a deployment, and says what to do", {
    examples: [
      "",
      "postgresql://postgres@db.myproject.supabase.co:5432/postgres",
      "--profile staging --json",
    ],
    notes:
      `By HTTP it checks the functions, their health and clock, the API key, and whether a fresh token has
its tenant. With the database's address, an argument or LOGLOOM_DATABASE_URL, also extensions,
migrations, jobs and their last runs, privileges, row-level security, the token hook's function, the
secret of notifications and the keys. A password that the
address lacks is PGPASSWORD's, or is asked for. It changes nothing.`,
    exit: "0 all is well, 1 something is wrong or could not be asked.",
  }))
    .argument("[database-url]", "postgresql://…")
    .option("--json", "an array of {check, status, message, todo}")
    .action(async (named: string | undefined, options: TargetOptions & { json?: true }) => {
      const databaseUrl = await databaseOf(cli, named);
      const findings: Finding[] = [
        ...await checkService(cli, options, databaseUrl !== undefined),
        ...databaseUrl === undefined
          ? [skipped("database", "no address of it is named")]
          : await checkAddress(databaseUrl, cli, options),
      ];
      if (options.json) console.log(JSON.stringify(findings, null, 2));
      else for (const line of linesOf(findings)) console.log(line);
      if (findings.some(({ status }) => status === "wrong")) cli.exitWith(exitCodes.failed);
    });
}

async function checkAddress(
  databaseUrl: string,
  cli: Cli,
  options: TargetOptions,
): Promise<Finding[]> {
  const { query, close } = directly(databaseUrl);
  try {
    const url = await addressOfProject(cli, options, true);
    return await checkDatabase(query, cli.supabase, url, cli.signal);
  } finally {
    await close();
  }
}

async function checkService(
  cli: Cli,
  options: TargetOptions,
  hasDatabase: boolean,
): Promise<Finding[]> {
  const url = await addressOfProject(cli, options, hasDatabase);
  if (url === undefined) return [skipped("functions", "no project is named")];
  return [
    ...await checkHealth(url, cli.signal),
    await checkKey(cli, options),
    ...await checkSession(cli, options),
  ];
}

/** The project's address; without one, the database alone can be checked. */
async function addressOfProject(cli: Cli, options: TargetOptions, hasDatabase: boolean) {
  if (options.url !== undefined || process.env.LOGLOOM_URL) {
    return options.url ?? process.env.LOGLOOM_URL;
  }
  try {
    return (await readSession(cli, options).catch(() => readSender(cli, options))).url;
  } catch (error) {
    if (hasDatabase) return undefined;
    throw error;
  }
}

const signs = { ok: "ok", wrong: "WRONG", skipped: "-" };

function linesOf(findings: readonly Finding[]): string[] {
  const lines = columns(
    findings.map(({ status, check, message }) => [signs[status], check, message]),
  );
  const red = (line: string) => isColoured() ? `\x1b[31m${line}\x1b[0m` : line;
  return findings.flatMap(({ status, todo }, n) => [
    status === "wrong" ? red(lines[n]) : lines[n],
    ...todo === undefined ? [] : [`       ${harmless(todo)}`],
  ]);
}
