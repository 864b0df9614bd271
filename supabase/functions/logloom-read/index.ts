import { createReadDatabase } from "./database.ts";
import { readEnv } from "../_shared/env.ts";
import { createReadHandler } from "./handler.ts";

const env = readEnv((name) => Deno.env.get(name));

Deno.serve(createReadHandler({
  callDatabase: createReadDatabase({
    url: env.supabaseUrl,
    serviceKey: env.serviceKey,
    // A search ends after 15 s by itself.
    timeoutMs: 20_000,
  }),
}));
