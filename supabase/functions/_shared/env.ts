import { withoutSlashesAtEnd } from "./slashes.ts";

export interface Env {
  /** The project's address, without a trailing slash. */
  readonly supabaseUrl: string;
  /** A secret key (`sb_secret_…`), or the legacy token of the role service_role. */
  readonly serviceKey: string;
  /** The key's name in the project: it may be shown, the key never. */
  readonly serviceKeyName: string;
  /** Set if tokens are signed with a shared secret, as on the local stack. */
  readonly jwtSecret: string | undefined;
}

const legacyKeyName = "SUPABASE_SERVICE_ROLE_KEY";

export function readEnv(get: (name: string) => string | undefined): Env {
  const supabaseUrl = withoutSlashesAtEnd(required(get, "SUPABASE_URL"));
  const [serviceKeyName, serviceKey] = readSecretKey(get("SUPABASE_SECRET_KEYS")) ??
    [legacyKeyName, required(get, legacyKeyName)];
  return {
    supabaseUrl,
    serviceKey,
    serviceKeyName,
    jwtSecret: readSecret(get("LOGLOOM_JWT_SECRET")),
  };
}

/**
 * Name and value from the JSON object of keys that hosted functions get: `default`, else the first valid one. Invalid
 * ones count as not set.
 */
function readSecretKey(text: string | undefined): [string, string] | undefined {
  try {
    const keys: unknown = JSON.parse(text ?? "");
    if (typeof keys !== "object" || keys === null || Array.isArray(keys)) return undefined;
    const usable = Object.entries(keys).filter((entry): entry is [string, string] =>
      typeof entry[1] === "string" && entry[1] !== ""
    );
    return usable.find(([name]) => name === "default") ?? usable[0];
  } catch {
    return undefined;
  }
}

/** The CLI passes `env(NAME)` from config.toml unchanged if NAME is not set. */
function readSecret(text: string | undefined): string | undefined {
  return text === undefined || text === "" || text.startsWith("env(") ? undefined : text;
}

function required(get: (name: string) => string | undefined, name: string): string {
  const value = get(name);
  if (!value) throw new Error(`The environment variable ${name} is not set`);
  return value;
}
