import { withoutSlashesAtEnd } from "./slashes.ts";

export interface Env {
  /** The project's address, without a slash at its end. */
  readonly supabaseUrl: string;
  /** A secret key (`sb_secret_…`), or the legacy token of the role service_role. */
  readonly serviceKey: string;
  /** Set where tokens are signed with a shared secret, as on the local stack. */
  readonly jwtSecret: string | undefined;
}

export function readEnv(get: (name: string) => string | undefined): Env {
  return {
    supabaseUrl: withoutSlashesAtEnd(required(get, "SUPABASE_URL")),
    serviceKey: readSecretKey(get("SUPABASE_SECRET_KEYS")) ??
      required(get, "SUPABASE_SERVICE_ROLE_KEY"),
    jwtSecret: readSecret(get("LOGLOOM_JWT_SECRET")),
  };
}

/** The member `default` of the JSON object that hosted functions find; what is none counts as not set. */
function readSecretKey(text: string | undefined): string | undefined {
  try {
    const keys: unknown = JSON.parse(text ?? "");
    const key = typeof keys === "object" && keys !== null && "default" in keys && keys.default;
    return typeof key === "string" && key !== "" ? key : undefined;
  } catch {
    return undefined;
  }
}

/** The CLI hands on `env(NAME)` as it stands in config.toml where NAME is not set. */
function readSecret(text: string | undefined): string | undefined {
  return text === undefined || text === "" || text.startsWith("env(") ? undefined : text;
}

function required(get: (name: string) => string | undefined, name: string): string {
  const value = get(name);
  if (!value) throw new Error(`The environment variable ${name} is not set`);
  return value;
}
