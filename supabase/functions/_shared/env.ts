import { withoutSlashesAtEnd } from "./trailing_slashes.ts";

export interface Env {
  /** The project's address, without a trailing slash. */
  readonly supabaseUrl: string;
  /** A secret key (`sb_secret_…`), or the legacy token of the role service_role. */
  readonly serviceKey: string;
  /** The key's name in the project. Unlike the key, it may be shown. */
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
 * The project's address as clients see it: LOGLOOM_PUBLIC_URL, or else SUPABASE_URL if that is a public address, as on
 * a hosted project.
 */
export function readPublicUrl(get: (name: string) => string | undefined): string | undefined {
  const own = readSecret(get("LOGLOOM_PUBLIC_URL"));
  if (own === undefined) {
    const url = withoutSlashesAtEnd(required(get, "SUPABASE_URL"));
    return url.startsWith("https://") ? url : undefined;
  }
  if (!/^https?:\/\/[\w.:[\]-]+(?:\/[\w./-]*)?$/.test(own) || !URL.canParse(own)) {
    throw new Error("LOGLOOM_PUBLIC_URL must be an address such as https://logs.example.com");
  }
  return withoutSlashesAtEnd(own);
}

/**
 * The address by which the database recognises its project. The SUPABASE_URL of self-hosted projects is the same
 * internal address everywhere, so LOGLOOM_PUBLIC_URL comes first there.
 */
export function readProjectUrl(get: (name: string) => string | undefined): string {
  const url = withoutSlashesAtEnd(required(get, "SUPABASE_URL"));
  return url.startsWith("https://") ? url : readPublicUrl(get) ?? url;
}

/** What a function needs to call the project's database. */
export function readDatabase(get: (name: string) => string | undefined, timeoutMs: number) {
  const { supabaseUrl: url, serviceKey } = readEnv(get);
  return { url, serviceKey, timeoutMs, projectUrl: readProjectUrl(get) };
}

/** Names and values from the JSON object of keys that hosted functions get. Invalid JSON counts as not set. */
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
