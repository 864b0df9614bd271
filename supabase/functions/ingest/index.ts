import { createAuthenticator } from "../_shared/auth.ts";
import { createDatabase } from "../_shared/database.ts";
import { readEnv } from "../_shared/env.ts";
import { createIngestHandler } from "./handler.ts";

const env = readEnv((name) => Deno.env.get(name));

Deno.serve(createIngestHandler({
  authenticate: createAuthenticator({
    jwksUrl: `${env.supabaseUrl}/auth/v1/.well-known/jwks.json`,
    jwtSecret: env.jwtSecret,
  }),
  callDatabase: createDatabase({
    url: env.supabaseUrl,
    serviceRoleKey: env.serviceRoleKey,
    timeoutMs: 10_000,
  }),
}));
