import { keySet } from "../signing_keys.ts";
import { apiPoolSize, databaseUrl, type Stack } from "../stack.ts";
import type { ProcessDefinition } from "../supervisor.ts";
import { npmProgram } from "../system.ts";

export function postgrestProcess(stack: Stack): ProcessDefinition {
  const admin = `http://127.0.0.1:${stack.ports.postgrestAdmin}/ready`;
  return {
    name: "postgrest",
    command: [npmProgram("postgrest")],
    env: {
      PGRST_SERVER_HOST: "127.0.0.1",
      PGRST_SERVER_PORT: `${stack.ports.postgrest}`,
      PGRST_ADMIN_SERVER_PORT: `${stack.ports.postgrestAdmin}`,
      PGRST_DB_URI: databaseUrl("authenticator", stack.ports.postgres, "postgres"),
      PGRST_DB_SCHEMAS: "public",
      PGRST_DB_EXTRA_SEARCH_PATH: "public,extensions",
      PGRST_DB_ANON_ROLE: "anon",
      PGRST_DB_MAX_ROWS: "1000",
      PGRST_DB_POOL: `${apiPoolSize}`,
      // The migrations name the pre-request function in a setting of the role authenticator.
      PGRST_DB_CONFIG: "true",
      PGRST_JWT_SECRET: JSON.stringify(keySet),
      PGRST_LOG_LEVEL: "warn",
    },
    dependsOn: ["postgres"],
    ready: async () => {
      const response = await fetch(admin, { signal: AbortSignal.timeout(2_000) });
      await response.body?.cancel();
      return response.ok;
    },
    stopSignal: "SIGTERM",
  };
}
