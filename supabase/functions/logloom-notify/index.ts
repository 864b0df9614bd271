// deno.lock is not deployed: a package's dependency gets the version in deno.json only if it is imported.
import "@stablelib/base64";
import "fast-sha256";
import { realConnections } from "../_shared/outgoing_connection.ts";
import { keepAlive } from "../_shared/background.ts";
import { createDatabase } from "../_shared/database.ts";
import { readDatabase } from "../_shared/env.ts";
import { byChannel, httpChannels } from "./channels.ts";
import { besideSealing, createSealHandler } from "../_shared/seal_secrets_handler.ts";
import { readSealedSecrets } from "../_shared/sealed_secrets.ts";
import { deliverEmail, readSmtpSettings } from "./email.ts";
import { createNotifyHandler } from "./handler.ts";
import { pagerdutyUrl } from "./pagerduty.ts";
import { purpose, sealAll } from "./channel_secrets.ts";

const get = (name: string) => Deno.env.get(name);
const smtp = readSmtpSettings(get);
const timeoutMs = 15_000;

const database = readDatabase(get, 10_000);
const callDatabase = createDatabase(database);
const secrets = await readSealedSecrets(get);

const seal = createSealHandler({ ...database, secrets, purpose });
/** Looking for unsealed secrets reads all rules, so it is done rarely. */
let sealAgainAt = 0;

const notify = createNotifyHandler({
  secret: get("LOGLOOM_NOTIFY_SECRET") || undefined,
  callDatabase,
  sealAll: async () => {
    if (secrets === undefined || performance.now() < sealAgainAt) return;
    sealAgainAt = performance.now() + 10_000;
    await sealAll(secrets, callDatabase);
  },
  deliver: byChannel({
    email: ({ notification_id: id, claim_id: attempt, address, body }) =>
      deliverEmail({ id, attempt, to: address, body }, smtp, timeoutMs),
    ...httpChannels({
      ...realConnections(get),
      timeoutMs,
      now: () => new Date(),
      secrets,
      // Other regions of PagerDuty have other addresses.
      pagerdutyUrl: get("LOGLOOM_PAGERDUTY_URL") || pagerdutyUrl,
    }),
  }),
  // The most that one claim may ask for.
  limit: 100,
  keepAlive,
  pause: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
});

Deno.serve(besideSealing(seal, notify));
