import { keepAlive } from "../_shared/background.ts";
import { createDatabase } from "../_shared/database.ts";
import { readDatabase } from "../_shared/env.ts";
import { createOwnTraffic } from "../ingest/own_drain_events.ts";
import { createPlatformHandler } from "./handler.ts";

const get = (name: string) => Deno.env.get(name) || undefined;
const database = readDatabase(get, 20_000);

Deno.serve(createPlatformHandler({
  secret: get("LOGLOOM_NOTIFY_SECRET"),
  callDatabase: createDatabase(database),
  api: get("LOGLOOM_MANAGEMENT_API") ?? "https://api.supabase.com",
  ref: /^https:\/\/([a-z]{20})\.supabase\.co$/.exec(database.url)?.[1],
  token: get("LOGLOOM_PLATFORM_TOKEN"),
  isOwn: createOwnTraffic(get("DENO_DEPLOYMENT_ID"))("").isOwn,
  // A hosted isolate has 256 MB.
  maxPageLength: 16_000_000,
  keepAlive,
}));
