import postgres from "postgres";
import { askSecret } from "./prompt.ts";
import { Failure } from "./failure.ts";
import type { Cli } from "./command_line.ts";
import { environment } from "./options.ts";

/** The database's address from an argument or LOGLOOM_DATABASE_URL, with its password. */
export async function databaseOf(cli: Cli, named: string | undefined): Promise<string | undefined> {
  const text = named ?? environment("LOGLOOM_DATABASE_URL");
  if (text === undefined) return undefined;
  if (!/^postgres(ql)?:\/\//.test(text) || !URL.canParse(text)) {
    throw new Failure("a database's address begins with postgresql://; --help says more.");
  }
  const url = new URL(text);
  const isAsked = url.password === "" && !url.searchParams.has("password") && process.stdin.isTTY;
  if (isAsked && environment("PGPASSWORD") === undefined) {
    url.password = encodeURIComponent(await askSecret(cli, `Password of ${url.username}`));
  }
  return url.href;
}

export function connect(
  databaseUrl: string,
  onnotice: (notice: postgres.Notice) => void = () => {},
): postgres.Sql {
  return postgres(databaseUrl, { max: 1, onnotice, connect_timeout: 10 });
}
