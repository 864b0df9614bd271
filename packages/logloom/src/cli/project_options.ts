import type { Command } from "./command_line.ts";
import { createReader, type Reader } from "../read/reader.ts";
import type { ReaderOptions, ReadKey, Session } from "../read/service.ts";
import {
  jsonOf,
  parseExactly,
  rewrites,
} from "../../../../supabase/functions/_shared/exact_numbers.ts";
import { Failure } from "./failure.ts";
import type { Cli } from "./command_line.ts";
import { reasonOf } from "./format_lines.ts";
import { environment } from "./options.ts";
import { type Profile, readProfile } from "./profiles.ts";
import { accessToken } from "./sessions.ts";

/** The options of every command that calls a project. */
export interface TargetOptions {
  readonly url?: string;
  readonly profile?: string;
}

export function withTarget(command: Command): Command {
  return command
    .option("--url <url>", "the project's address; else LOGLOOM_URL, else the profile's")
    .option("--profile <name>", "who to be: what login stored; else LOGLOOM_PROFILE");
}

export const profileName = (options: TargetOptions): string =>
  options.profile ?? environment("LOGLOOM_PROFILE") ?? "default";

/** Checks an address and removes trailing slashes. */
export function addressOf(url: string): string {
  // URL.parse came with Node 22.
  const isWeb = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
  if (isWeb) return url.replace(/\/+$/, "");
  throw new Failure(`${url} is not the address of a project, such as https://….supabase.co.`);
}

interface Found {
  readonly url: string;
  readonly name: string;
  readonly profile: Profile | undefined;
}

/** Finds the project's address in the options, the environment or the profile. Undefined means the local stack. */
async function findProject(cli: Cli, options: TargetOptions): Promise<Found | undefined> {
  const named = options.url ?? environment("LOGLOOM_URL");
  const name = profileName(options);
  const profile = await readProfile(name);
  if (profile === undefined && options.profile !== undefined) {
    throw new Failure(`there is no profile ${name}: ${cli.call("login")} --profile ${name}.`);
  }
  if (named === undefined) return profile && { url: profile.url, name, profile };
  const url = addressOf(named);
  // Stored credentials are sent only to the project that they belong to.
  return { url, name, profile: profile?.url === url ? profile : undefined };
}

/** Finds the project's address and the name of its function health. Needs no user and no key. */
export async function findService(
  cli: Cli,
  options: TargetOptions,
): Promise<{ url: string; health: string }> {
  const found = await findProject(cli, options);
  const url = found?.url ?? (await localStack(cli)).url;
  return { url, health: found?.profile?.health ?? "health" };
}

/** The project and the user: from the options and the environment, else the profile, else a stack of this machine. */
export async function readSession(cli: Cli, options: TargetOptions): Promise<Session> {
  const token = environment("LOGLOOM_TOKEN");
  const key = environment("LOGLOOM_PUBLISHABLE_KEY");
  const url = options.url ?? environment("LOGLOOM_URL");
  if (url !== undefined && token !== undefined) {
    const known = key === undefined ? await findProject(cli, options) : undefined;
    return { url: addressOf(url), token, key: key ?? known?.profile?.publishable_key };
  }
  const found = await findProject(cli, options);
  if (found === undefined) return await localSession(cli, token);
  const { name, profile } = found;
  if (token === undefined && profile?.session === undefined) {
    throw needsToken(cli, found.url, "LOGLOOM_TOKEN");
  }
  return {
    url: found.url,
    token: token ?? (() => accessToken(name)),
    key: key ?? profile?.publishable_key,
  };
}

/**
 * Finds the user, or the API key if there is no session. A session has priority, because LOGLOOM_API_KEY is often a key
 * for sending.
 */
async function readLogSource(cli: Cli, options: TargetOptions): Promise<Session | ReadKey> {
  if (environment("LOGLOOM_TOKEN") !== undefined) return await readSession(cli, options);
  const found = await findProject(cli, options);
  if (found?.profile?.session !== undefined) return await readSession(cli, options);
  const key = environment("LOGLOOM_API_KEY") ?? found?.profile?.api_key;
  if (key === undefined) {
    if (found === undefined) return await readSession(cli, options);
    throw needsToken(cli, found.url, "LOGLOOM_TOKEN, or LOGLOOM_API_KEY to a key that reads");
  }
  // The user named a key, so it is used instead of the local stack's demo user.
  return { url: found?.url ?? (await localStack(cli)).url, key };
}

function needsToken(cli: Cli, url: string, variables: string): Failure {
  return new Failure(
    `an access token is needed for ${url}: ${cli.call("login")} asks for one, or set ${variables}.`,
  );
}

async function localSession(cli: Cli, named: string | undefined): Promise<Session> {
  const { url, token = named } = await localStack(cli, named);
  if (token !== undefined) return { url, token };
  throw new Failure("the local stack has no demo user: name a token by LOGLOOM_TOKEN.");
}

async function localStack(cli: Cli, token?: string) {
  if (cli.localStack === undefined) {
    throw new Failure(
      `say which project: ${cli.call("login")} stores one, or set LOGLOOM_URL and LOGLOOM_TOKEN ` +
        "or LOGLOOM_API_KEY.",
    );
  }
  const stack = await cli.localStack();
  return token === undefined ? stack : { ...stack, token };
}

/** Finds the project and an API key for it. */
export async function readSender(
  cli: Cli,
  options: TargetOptions,
): Promise<{ url: string; apiKey: string }> {
  const url = options.url ?? environment("LOGLOOM_URL");
  const key = environment("LOGLOOM_API_KEY");
  if (url !== undefined && key !== undefined) return { url: addressOf(url), apiKey: key };
  const found = await findProject(cli, options);
  if (found !== undefined) {
    const apiKey = key ?? found.profile?.api_key;
    if (apiKey !== undefined) return { url: found.url, apiKey };
    throw new Failure(
      `an API key is needed for that address: ${
        cli.call("login")
      } --api-key asks for one, or set ` +
        "LOGLOOM_API_KEY.",
    );
  }
  const stack = await localStack(cli);
  const apiKey = key ?? stack.apiKey;
  if (apiKey !== undefined) return { url: stack.url, apiKey };
  throw new Failure("the local stack has no demo key: name a key by LOGLOOM_API_KEY.");
}

/** Reports each retry, except if the session has ended, because waiting does not help then. */
function retrying(what: string): ReaderOptions["onRetry"] {
  return (error) => {
    if (error.cause instanceof Failure) throw error.cause;
    console.error(`logloom: ${reasonOf(error).replace(/\.$/, "")}; ${what} …`);
  };
}

/** Opens a reader for a user. Numbers keep their digits. */
export async function openReader(
  cli: Cli,
  options: TargetOptions,
  what = "trying again",
): Promise<Reader> {
  return readerOf(await readSession(cli, options), what);
}

/** Opens a reader for a user, or for an API key that may read logs. */
export async function openLogReader(
  cli: Cli,
  options: TargetOptions,
  what = "trying again",
): Promise<Reader> {
  return readerOf(await readLogSource(cli, options), what);
}

function readerOf(source: Session | ReadKey, what: string): Reader {
  return createReader(source, {
    parse: (json) => parseExactly(json, rewrites),
    stringify: (parameters) => jsonOf(parameters),
    onRetry: retrying(what),
  });
}
