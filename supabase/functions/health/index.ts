import { createDatabase } from "../_shared/database.ts";
import { readEnv, readProjectUrl } from "../_shared/env.ts";
import { createHealthHandler } from "./handler.ts";

const get = (name: string) => Deno.env.get(name);
const env = readEnv(get);

Deno.serve(createHealthHandler({
  callDatabase: createDatabase({
    url: env.supabaseUrl,
    serviceKey: env.serviceKey,
    projectUrl: readProjectUrl(get),
    // An unreachable database must be reported within 2 s.
    timeoutMs: 1_800,
  }),
  now: () => new Date(),
  serviceKeyName: env.serviceKeyName,
}));
