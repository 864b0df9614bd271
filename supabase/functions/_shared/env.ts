import { withoutSlashesAtEnd } from "./slashes.ts";

export interface Env {
  /** The project's address, without a trailing slash. */
  readonly supabaseUrl: string;
  /** A secret key (`sb_secret_…`), or the legacy token of the role service_role. */
  readonly serviceKey: string;
  /** The key's name in the project: it may be shown, the key never. */
  readonly serviceKeyName: string;
  /** All secret keys of the project (`sb_secret_…`). */
  readonly secretKeys: readonly string[];
  /** Set if tokens are signed with a shared secret, as on the local stack. */
  readonly jwtSecret: string | undefined;
}

const legacyKeyName = "SUPABASE_SERVICE_ROLE_KEY";

export function readEnv(get: (name: string) => string | undefined): Env {
  const supabaseUrl = withoutSlashesAtEnd(required(get, "SUPABASE_URL"));
  const secretKeys = readSecretKeys(get("SUPABASE_SECRET_KEYS"));
  const [serviceKeyName, serviceKey] = secretKeys.find(([name]) => name === "default") ??
    secretKeys[0] ?? [legacyKeyName, required(get, legacyKeyName)];
  return {
    supabaseUrl,
    serviceKey,
    serviceKeyName,
    secretKeys: secretKeys.map(([, key]) => key),
    jwtSecret: readSecret(get("LOGLOOM_JWT_SECRET")),
  };
}

/**
 * The project's address as clients see it: LOGLOOM_PUBLIC_URL, or else SUPABASE_URL where that is no address from within,
 * as it is on a hosted project.
 */
export function readPublicUrl(get: (name: string) => string | undefined): string | undefined {
  const own = readSecret(get("LOGLOOM_PUBLIC_URL"));
  if (own === undefined) {
    const url = withoutSlashesAtEnd(required(get, "SUPABASE_URL"));
    return url.startsWith("https://") ? url : undefined;
  }
  if (!/^https?:\/\/[\w.:[\]-]+(?:\/[\w./-]*)?$/.test(own) || !URL.canParse(own)) {
    throw new Error("LOGLOOM_PUBLIC_URL is no address such as https://logs.example.com");
  }
  return withoutSlashesAtEnd(own);
}

/**
 * What the database tells projects apart by. Self-hosted functions all have an address from within: there
 * LOGLOOM_PUBLIC_URL tells them apart, if it is set.
 */
export function readProjectUrl(get: (name: string) => string | undefined): string {
  const url = withoutSlashesAtEnd(required(get, "SUPABASE_URL"));
  return url.startsWith("https://") ? url : readPublicUrl(get) ?? url;
}

/** Names and values from the JSON object of keys that hosted functions get. Invalid ones count as not set. */
function readSecretKeys(text: string | undefined): [string, string][] {
  try {
    const keys: unknown = JSON.parse(text ?? "");
    if (typeof keys !== "object" || keys === null || Array.isArray(keys)) return [];
    return Object.entries(keys).filter((entry): entry is [string, string] =>
      typeof entry[1] === "string" && entry[1] !== ""
    );
  } catch {
    return [];
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
