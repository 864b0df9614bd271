import { databaseOf } from "../database.ts";
import { checkDatabase } from "../doctor/database.ts";
import { type Finding, skipped } from "../doctor/finding.ts";
import { checkHealth, checkKey, checkSession } from "../doctor/service.ts";
import { directly } from "../init/project.ts";
import { exitCodes } from "../failure.ts";
import { type Cli, type Command, newCommand } from "../command_line.ts";
import { columns, harmless } from "../format_lines.ts";
import { isColoured } from "../output.ts";
import { findService, type TargetOptions, withTarget } from "../project_options.ts";

interface Options extends TargetOptions {
  readonly healthAs?: string;
  readonly json?: true;
}

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
    .option("--health-as <name>", "the name of Logloom's function health; else the profile's")
    .option("--json", "an array of {check, status, message, todo}")
    .action(async (named: string | undefined, options: Options) => {
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
    const service = await findService(cli, options).catch(() => undefined);
    return await checkDatabase(query, cli.supabase, service?.url, cli.signal);
  } finally {
    await close();
  }
}

async function checkService(cli: Cli, options: Options, hasDatabase: boolean): Promise<Finding[]> {
  const service = await findService(cli, options).catch((error) => {
    // The database alone can be checked.
    if (hasDatabase) return undefined;
    throw error;
  });
  if (service === undefined) return [skipped("functions", "no project is named")];
  return [
    ...await checkHealth(service.url, cli.signal, options.healthAs ?? service.health),
    await checkKey(cli, options),
    ...await checkSession(cli, options),
  ];
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
