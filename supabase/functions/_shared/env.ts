export interface Env {
  /** The project's address, without a slash at its end. */
  readonly supabaseUrl: string;
  readonly serviceRoleKey: string;
  /** Set where tokens are signed with a shared secret, as on the local stack. */
  readonly jwtSecret: string | undefined;
}

export function readEnv(get: (name: string) => string | undefined): Env {
  return {
    supabaseUrl: required(get, "SUPABASE_URL").replace(/\/+$/, ""),
    serviceRoleKey: required(get, "SUPABASE_SERVICE_ROLE_KEY"),
    jwtSecret: get("LOGLOOM_JWT_SECRET") || undefined,
  };
}

function required(get: (name: string) => string | undefined, name: string): string {
  const value = get(name);
  if (!value) throw new Error(`The environment variable ${name} is not set`);
  return value;
}
