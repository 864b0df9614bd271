// A deploy leaves deno.lock behind: what a package needs has the version of deno.json if it is imported.
import "protocol-buffers-schema";
import "resolve-protobuf-schema";
import { realConnections } from "../_shared/connections.ts";
import { createDatabase } from "../_shared/database.ts";
import { readEnv, readProjectUrl } from "../_shared/env.ts";
import { sendOutgoing } from "../_shared/outgoing.ts";
import { besideSealing, createSealHandler } from "../_shared/seal_handler.ts";
import { readSealedSecrets } from "../_shared/sealed_secrets.ts";
import { createStreamHandler, purpose } from "./handler.ts";

/** Hosted edge functions have this beside Deno. */
declare const EdgeRuntime: { waitUntil(work: Promise<void>): void } | undefined;

const get = (name: string) => Deno.env.get(name);
const env = readEnv(get);
const connections = realConnections(get);

const database = {
  url: env.supabaseUrl,
  serviceKey: env.serviceKey,
  timeoutMs: 20_000,
  projectUrl: readProjectUrl(get),
};
const secrets = await readSealedSecrets(get);

const seal = createSealHandler({ ...database, secrets, purpose });
const stream = createStreamHandler({
  secret: get("LOGLOOM_NOTIFY_SECRET") || undefined,
  callDatabase: createDatabase(database),
  secrets,
  send: (request) =>
    sendOutgoing(request, { ...connections, timeoutMs: 15_000, maxAnswerBytes: 2_000_000 }),
  limit: 40,
  budgetMs: 20_000,
  // Hosted, an isolate is retired after a second of processor and ended after two, whichever requests take it.
  processorBudgetMs: 400,
  keepAlive: (work) => {
    if (typeof EdgeRuntime !== "undefined") EdgeRuntime.waitUntil(work);
  },
  pause: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
  now: () => new Date(),
  clock: () => performance.now(),
});

Deno.serve(besideSealing(seal, stream));
