import { say } from "../shared/translate.ts";

/** A deployment's `config.json`, beside `index.html`. */
export interface Config {
  /** The project's address, or "" for the address that served the page. */
  url: string;
  /** The project's publishable (or anon) key; hosted gateways require it. */
  key: string;
  /** `token`: a local stack, signed in by a link. `supabase`: Supabase Auth. */
  auth: "token" | "supabase";
  /** OAuth providers on the sign-in page, by Supabase's names: `github`, `google` … */
  providers: string[];
  /** The name of Logloom's function `health` in the project. */
  health: string;
  /** Origins whose pages may show the portal in a frame. */
  portalOrigins: string[];
}

/** The page cannot start. It shows only this message. */
export class StartError extends Error {}

export async function loadConfig(): Promise<Config> {
  const response = await fetch("config.json", { cache: "no-store" }).catch(() => null);
  if (!response?.ok) {
    throw new StartError(
      say("config.json could not be read. It lies beside index.html and names the project."),
    );
  }
  return readConfig(await response.json().catch(() => null));
}

export function readConfig(value: unknown): Config {
  const given = (typeof value === "object" && value !== null ? value : {}) as Partial<
    Config
  >;
  if (typeof given.url !== "string") {
    throw new StartError(say('config.json lacks "url", the address of the project.'));
  }
  if (given.auth !== "token" && given.auth !== "supabase") {
    throw new StartError(say('config.json lacks "auth": "supabase", or "token" on a local stack.'));
  }
  return {
    url: given.url.replace(/\/+$/, ""),
    key: typeof given.key === "string" ? given.key : "",
    auth: given.auth,
    providers: Array.isArray(given.providers) ? given.providers.map(String) : [],
    health: typeof given.health === "string" ? given.health : "health",
    portalOrigins: Array.isArray(given.portalOrigins) ? given.portalOrigins.map(String) : [],
  };
}
