import { createReadDatabase } from "./database.ts";
import { readEnv, readPublicUrl } from "../_shared/env.ts";
import { createReadHandler } from "./handler.ts";

const get = (name: string) => Deno.env.get(name);
const env = readEnv(get);

Deno.serve(createReadHandler({
  callDatabase: createReadDatabase({
    url: env.supabaseUrl,
    serviceKey: env.serviceKey,
    // The database ends a search after 15 s.
    timeoutMs: 20_000,
  }),
  publicUrl: readPublicUrl(get),
}));
