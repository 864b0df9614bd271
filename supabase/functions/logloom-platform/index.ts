import { createDatabase } from "../_shared/database.ts";
import { readEnv, readProjectUrl } from "../_shared/env.ts";
import { createOwnTraffic } from "../ingest/own_drain_events.ts";
import { createPlatformHandler } from "./handler.ts";

/** A global of hosted edge functions. */
declare const EdgeRuntime: { waitUntil(work: Promise<void>): void } | undefined;

const get = (name: string) => Deno.env.get(name) || undefined;
const env = readEnv(get);
const projectUrl = readProjectUrl(get);

Deno.serve(createPlatformHandler({
  secret: get("LOGLOOM_NOTIFY_SECRET"),
  callDatabase: createDatabase({
    url: env.supabaseUrl,
    serviceKey: env.serviceKey,
    timeoutMs: 20_000,
    projectUrl,
  }),
  api: get("LOGLOOM_MANAGEMENT_API") ?? "https://api.supabase.com",
  ref: /^https:\/\/([a-z]{20})\.supabase\.co$/.exec(env.supabaseUrl)?.[1],
  token: get("LOGLOOM_PLATFORM_TOKEN"),
  isOwn: createOwnTraffic(get("DENO_DEPLOYMENT_ID"))("").isOwn,
  // A hosted isolate has 256 MB.
  maxPageLength: 16_000_000,
  keepAlive: (work) => {
    if (typeof EdgeRuntime !== "undefined") EdgeRuntime.waitUntil(work);
  },
}));
