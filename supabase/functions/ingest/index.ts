// deno.lock is not deployed: a package's dependency gets the version in deno.json only if it is imported.
import "protocol-buffers-schema";
import "resolve-protobuf-schema";
import { createAuthenticator } from "../_shared/auth.ts";
import { createDatabase } from "../_shared/database.ts";
import { readDatabase, readEnv } from "../_shared/env.ts";
import { besideSealing, createSealHandler } from "../_shared/seal_secrets_handler.ts";
import { readSealedSecrets } from "../_shared/sealed_secrets.ts";
import { createWriterWatchdog } from "./writer_watchdog.ts";
import { createIngestHandler } from "./handler.ts";
import { purpose } from "./tenant_rules.ts";

const get = (name: string) => Deno.env.get(name);
const env = readEnv(get);
const database = readDatabase(get, 10_000);
const callDatabase = createDatabase(database);
const secrets = await readSealedSecrets(get);

const seal = createSealHandler({ ...database, secrets, purpose });
const ingest = createIngestHandler({
  authenticate: createAuthenticator({
    jwksUrl: `${env.supabaseUrl}/auth/v1/.well-known/jwks.json`,
    jwtSecret: env.jwtSecret,
    secretKeys: env.secretKeys,
  }),
  callDatabase,
  wakeWriter: createWriterWatchdog(callDatabase),
  deploymentId: get("DENO_DEPLOYMENT_ID"),
  secrets,
});

Deno.serve(besideSealing(seal, ingest));
