import { LogloomError } from "../../read/error.ts";
import { createReader } from "../../read/reader.ts";
import type { Session } from "../../read/service.ts";
import { inCommands } from "../command_names.ts";
import type { Cli } from "../command_line.ts";
import { functionNames, nameIn } from "../guest/files.ts";
import { checkApiKey } from "../key_check.ts";
import { reasonOf } from "../format_lines.ts";
import { environment } from "../options.ts";
import { readProfile } from "../profiles.ts";
import { accessToken, claimsOf } from "../sessions.ts";
import { type Exchange, exchange } from "../shipping/http_exchange.ts";
import { profileName, readSender, readSession, type TargetOptions } from "../project_options.ts";
import { clockFinding, type Finding, ok, skipped, wrong } from "./finding.ts";
import { mendOf, projectFindings } from "./project.ts";

interface Check {
  status?: string;
  reason?: string | null;
  state?: string;
}

/** Checks the functions, the health that they report for the database, and their clock. */
export async function checkHealth(
  url: string,
  signal: AbortSignal,
  name: string,
): Promise<Finding[]> {
  const before = Date.now();
  const get = (path: string) => exchange(`${url}/functions/v1/${name}${path}`, { signal });
  const simple = await get("");
  if (simple.status !== 200) {
    return [wrong(
      "functions",
      simple.reason,
      simple.status === 404
        ? `Deploy the functions: supabase functions deploy ${
          functionNames.map(nameIn(name)).join(" ")
        }.`
        : "Check the address, and whether the project is paused.",
    )];
  }
  const detailed = await get("/detailed");
  return [
    ok("functions", "they answer"),
    clockFinding("clock", Date.parse(String(simple.body.timestamp)), before),
    ...graded(detailed),
  ];
}

function graded({ body, reason }: Exchange): Finding[] {
  if (typeof body.status !== "string") {
    return [wrong("health", reason, "Deploy the function health again.")];
  }
  const { jobs = {}, ...others } = Object(body.checks) as Record<string, Record<string, Check>>;
  const bad = Object.entries({ ...others, ...jobs } as Record<string, Check>)
    .filter(([, { status = "healthy" }]) => status !== "healthy")
    .map(([name, { status, reason, state }]) =>
      wrong(`health of ${name}`, reason ? `${status}: ${reason}` : `${status}`, mendOf(name, state))
    );
  const project = projectFindings(others);
  if (bad.length > 0) return [...bad, ...project];
  if (body.status === "healthy") return [ok("health", "healthy"), ...project];
  return [wrong("health", body.status, "See docs/guides/operations.md."), ...project];
}

/** Checks whether the service accepts the API key, without sending an event. */
export async function checkKey(cli: Cli, options: TargetOptions): Promise<Finding> {
  const sender = await readSender(cli, options).catch(() => undefined);
  if (sender === undefined) return skipped("API key", "none is named");
  const { status, reason, scope } = await checkApiKey(sender.url, sender.apiKey, cli.signal);
  if (scope !== undefined) {
    return ok("API key", scope === "sends" ? "accepted" : "accepted, and only reads");
  }
  const make = `${cli.call("keys create")} NAME makes a key, ${cli.call("keys list")} lists them.`;
  return wrong("API key", reason, status === 401 ? make : "See whether the functions are healthy.");
}

/** Checks whether a user may read: the token, and the claim that the access-token hook adds. */
export async function checkSession(cli: Cli, options: TargetOptions): Promise<Finding[]> {
  const session = await readSession(cli, options).catch(() => undefined);
  if (session === undefined) return [skipped("session", "nobody is logged in")];
  try {
    const token = await freshToken(options, session.token);
    const findings = [hookFinding(token)];
    try {
      await createReader({ ...session, token }).validate("", cli);
      return [...findings, await ingestFinding(session.url, token, cli.signal)];
    } catch (error) {
      if (!(error instanceof LogloomError)) throw error;
      const todo = `${cli.call("login")} starts a new session.`;
      return [
        ...findings,
        wrong("session", reasonOf(error), error.hint ? inCommands(error.hint) : todo),
      ];
    }
  } catch (error) {
    cli.signal.throwIfAborted();
    return [wrong("session", (error as Error).message, `${cli.call("login")} starts a new one.`)];
  }
}

/** Checks the token with the function ingest, which verifies tokens itself. PostgREST has accepted the token before. */
async function ingestFinding(url: string, token: string, signal: AbortSignal): Promise<Finding> {
  const { status, reason } = await exchange(`${url}/functions/v1/ingest`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
    body: "[]",
    signal,
  });
  // 403: the user may only read.
  if (status !== 401) return ok("session", "accepted");
  return wrong(
    "session",
    `PostgREST accepts the token, the function ingest does not: ${reason}`,
    "If the project signs tokens with a shared secret: supabase secrets set LOGLOOM_JWT_SECRET=… " +
      "with that secret (dashboard: Project Settings, JWT Keys).",
  );
}

/** Gets a new token, so that Auth calls the hook now. */
async function freshToken(options: TargetOptions, token: Session["token"]): Promise<string> {
  if (typeof token === "string") return token;
  const name = profileName(options);
  const isRenewable = (await readProfile(name))?.session?.refresh_token !== undefined;
  return isRenewable && environment("LOGLOOM_TOKEN") === undefined
    ? await accessToken(name, true)
    : await token() ?? "";
}

function hookFinding(token: string): Finding {
  const { tenant_id } = claimsOf(token);
  if (typeof tenant_id === "string" && tenant_id.trim() !== "") {
    return ok("token hook", "the token has its tenant_id");
  }
  return wrong(
    "token hook",
    "the token has no tenant_id",
    "Switch the access-token hook on (dashboard: Authentication, Hooks), make the user a member of " +
      "a tenant, and log in again. docs/background/identity.md says how.",
  );
}
