// deno.lock is not deployed: a package's dependency gets the version in deno.json only if it is imported.
import "protocol-buffers-schema";
import "resolve-protobuf-schema";
import { realConnections } from "../_shared/outgoing_connection.ts";
import { keepAlive } from "../_shared/background.ts";
import { createDatabase } from "../_shared/database.ts";
import { readDatabase } from "../_shared/env.ts";
import { sendOutgoing } from "../_shared/outgoing_request.ts";
import { besideSealing, createSealHandler } from "../_shared/seal_secrets_handler.ts";
import { readSealedSecrets } from "../_shared/sealed_secrets.ts";
import { createStreamHandler, purpose } from "./handler.ts";

const get = (name: string) => Deno.env.get(name);
const connections = realConnections(get);

const database = readDatabase(get, 20_000);
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
  // A hosted isolate gets no requests after 1 s of processor time and ends after 2 s.
  processorBudgetMs: 400,
  keepAlive,
  pause: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
  now: () => new Date(),
  clock: () => performance.now(),
});

Deno.serve(besideSealing(seal, stream));
