import type { Command } from "../command_line.ts";
import { LogloomError } from "../../read/error.ts";
import { createReader } from "../../read/reader.ts";
import { ask, askSecret } from "../prompt.ts";
import { inCommands } from "../command_names.ts";
import { Failure } from "../failure.ts";
import { type Cli, newCommand } from "../command_line.ts";
import { checkApiKey } from "../key_check.ts";
import { reasonOf } from "../format_lines.ts";
import { environment } from "../options.ts";
import { type Profile, readProfile, writeProfile } from "../profiles.ts";
import { claimsOf, signIn } from "../sessions.ts";
import { addressOf, profileName } from "../project_options.ts";

interface Options {
  url?: string;
  publishableKey?: string;
  email?: string;
  apiKey?: true;
  accessToken?: true;
  profile?: string;
}

/** Stores the project and the user for all other commands. */
export function login(cli: Cli): Command {
  return newCommand(cli, "login", "Stores a project and who you are there, in a profile", {
    examples: [
      "--url https://myproject.supabase.co --publishable-key sb_publishable_… --email ann@example.com",
      "--url https://myproject.supabase.co --api-key",
      "--api-key --profile staging < key.txt",
    ],
    notes: `Password, key and token are asked for, or read from standard input; they are no options,
because others can read a command line. What was stored is used where neither an option nor a
variable (LOGLOOM_URL, LOGLOOM_TOKEN, LOGLOOM_API_KEY, LOGLOOM_PUBLISHABLE_KEY) says otherwise.
Profiles are in logloom/profiles.json below $XDG_CONFIG_HOME or ~/.config; only you can read it.`,
  })
    .option("--url <url>", "the project's address, else the one that the profile has")
    .option("--email <address>", "sign in to Supabase Auth; the session renews itself")
    .option("--publishable-key <key>", "a hosted project's publishable key, which is no secret")
    .option("--access-token", "instead: the access token of a session, until it ends")
    .option("--api-key", "also, or instead: an API key, ll_…, for ship or to read")
    .option("--profile <name>", "the profile's name; else LOGLOOM_PROFILE, else default")
    .action(async (options: Options) => {
      const name = profileName(options);
      const before = await readProfile(name);
      const url = addressOf(
        options.url ?? environment("LOGLOOM_URL") ?? before?.url ??
          await ask(cli, "Address of the project", "--url"),
      );
      const profile: Profile = { ...before?.url === url ? before : undefined, url };
      const key = options.publishableKey ?? environment("LOGLOOM_PUBLISHABLE_KEY");
      if (key !== undefined) profile.publishable_key = key;
      if (options.apiKey) profile.api_key = await askKey(cli, url);
      else if (options.accessToken) {
        profile.session = { access_token: await askSecret(cli, "Access token") };
      } else {
        const email = options.email ?? await ask(cli, "E-mail address", "--email");
        const password = await askSecret(cli, "Password");
        profile.session = await signIn(profile, { email, password });
      }
      if (!options.apiKey) await requireTenant(cli, profile);
      await writeProfile(name, profile);
      console.log(`Logged in to ${url} (profile ${name}).`);
    });
}

async function askKey(cli: Cli, url: string): Promise<string> {
  const key = await askSecret(cli, "API key");
  const { scope, reason } = await checkApiKey(url, key, cli.signal);
  if (scope === undefined) throw new Failure(`${reason}. Nothing was stored.`);
  return key;
}

async function requireTenant(cli: Cli, { url, publishable_key, session }: Profile): Promise<void> {
  const token = session?.access_token ?? "";
  try {
    await createReader({ url, token, key: publishable_key })
      .validate("", { signal: cli.signal });
  } catch (error) {
    if (!(error instanceof LogloomError)) throw error;
    const hint = error.status === 401 && claimsOf(token).tenant_id === undefined
      ? " It has no tenant_id: the access-token hook is off, or you belong to no tenant."
      : error.hint
      ? ` ${inCommands(error.hint)}`
      : "";
    throw new Failure(`${reasonOf(error)}${hint} Nothing was stored.`);
  }
}
