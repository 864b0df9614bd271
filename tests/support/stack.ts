/** The stack under test, from variables that `npm test` sets. */
export const stack = {
  url: required("LOGLOOM_URL"),
  databaseUrl: required("LOGLOOM_DB_URL"),
  adminDatabaseUrl: required("LOGLOOM_ADMIN_DB_URL"),
  anonKey: required("LOGLOOM_ANON_KEY"),
  serviceRoleKey: required("LOGLOOM_SERVICE_ROLE_KEY"),
  jwtSecret: required("LOGLOOM_JWT_SECRET"),
  stateFile: required("LOGLOOM_STATE_FILE"),
};

function required(name: string): string {
  const value = Deno.env.get(name);
  if (!value) throw new Error(`${name} is not set; npm test -- e2e sets it for a stack of its own`);
  return value;
}
