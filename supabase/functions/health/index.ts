import { createDatabase } from "../_shared/database.ts";
import { readEnv } from "../_shared/env.ts";
import { createHealthHandler } from "./handler.ts";

const env = readEnv((name) => Deno.env.get(name));

Deno.serve(createHealthHandler({
  callDatabase: createDatabase({
    url: env.supabaseUrl,
    serviceKey: env.serviceKey,
    // An unreachable database must be reported within 2 s.
    timeoutMs: 1_800,
  }),
  now: () => new Date(),
  serviceKeyName: env.serviceKeyName,
}));
