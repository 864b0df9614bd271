import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { Failure } from "../failure.ts";
import { ourHook } from "../guest/config.ts";
import { environment } from "../options.ts";
import { exchange } from "../shipping/http_exchange.ts";
import { isMissing } from "../shipping/follow.ts";
import type { Setup } from "./setup.ts";
import { scopeHelp } from "./supabase_cli.ts";

export const tokenHelp =
  "Make one at https://supabase.com/dashboard/account/tokens, set SUPABASE_ACCESS_TOKEN, and run " +
  `this again. ${scopeHelp}`;

/**
 * Returns a personal access token, from the environment or from the file that `supabase login` writes without a
 * keyring.
 */
export async function accessTokenOf(): Promise<string | undefined> {
  const named = environment("SUPABASE_ACCESS_TOKEN");
  if (named !== undefined) return named;
  try {
    return (await readFile(join(homedir(), ".supabase", "access-token"), "utf8")).trim() ||
      undefined;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

type Api = Pick<Setup, "project" | "cli">;

interface HookSettings {
  readonly isOn: boolean;
  readonly uri: string | null;
}

export async function hookSettings(setup: Api, token: string): Promise<HookSettings> {
  return hookIn(await call(setup, token, "GET"));
}

function hookIn(body: Record<string, unknown>): HookSettings {
  return {
    isOn: body.hook_custom_access_token_enabled === true,
    uri: typeof body.hook_custom_access_token_uri === "string"
      ? body.hook_custom_access_token_uri
      : null,
  };
}

/** Switches the hook on or off. The API keeps every setting that the request does not name. */
export async function switchHook(setup: Api, token: string, isOn: boolean): Promise<void> {
  const answer = await call(setup, token, "PATCH", {
    hook_custom_access_token_enabled: isOn,
    ...isOn && { hook_custom_access_token_uri: ourHook },
  });
  if (hookIn(answer).isOn !== isOn) throw new Failure("Auth's hook is as it was: try again later.");
}

async function call(
  { project, cli }: Api,
  token: string,
  method: "GET" | "PATCH",
  settings?: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const api = environment("LOGLOOM_MANAGEMENT_API") ?? "https://api.supabase.com";
  const { status, reason, body } = await exchange(
    `${api}/v1/projects/${project.ref}/config/auth`,
    {
      method,
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      ...settings !== undefined && { body: JSON.stringify(settings) },
      signal: cli.signal,
    },
  );
  if (status === 200) return body;
  const refused = status === 401 || status === 403;
  throw new Failure(`${method} config/auth: ${reason}.${refused ? ` ${tokenHelp}` : ""}`);
}
