import { createDatabase } from "../_shared/database.ts";
import { readDatabase, readEnv } from "../_shared/env.ts";
import { createHealthHandler } from "./handler.ts";

const get = (name: string) => Deno.env.get(name);

Deno.serve(createHealthHandler({
  // An unreachable database must be reported within 2 s.
  callDatabase: createDatabase(readDatabase(get, 1_800)),
  now: () => new Date(),
  serviceKeyName: readEnv(get).serviceKeyName,
}));
