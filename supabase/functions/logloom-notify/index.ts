import { realConnections } from "../_shared/connections.ts";
import { createDatabase } from "../_shared/database.ts";
import { readEnv } from "../_shared/env.ts";
import { byChannel } from "./channels.ts";
import { besideSealing, createSealHandler } from "../_shared/seal_handler.ts";
import { readSealedSecrets } from "../_shared/sealed_secrets.ts";
import { deliverEmail, readSmtpSettings } from "./email.ts";
import { createNotifyHandler } from "./handler.ts";
import { deliverWebhook } from "./webhook.ts";

/** Hosted edge functions have this beside Deno. */
declare const EdgeRuntime: { waitUntil(work: Promise<void>): void } | undefined;

const get = (name: string) => Deno.env.get(name);
const env = readEnv(get);
const smtp = readSmtpSettings(get);
const timeoutMs = 15_000;

const database = { url: env.supabaseUrl, serviceKey: env.serviceKey, timeoutMs: 10_000 };
const secrets = await readSealedSecrets(get);

const seal = createSealHandler({ ...database, secrets, purpose: "alert_rule" });
const notify = createNotifyHandler({
  secret: get("LOGLOOM_NOTIFY_SECRET") || undefined,
  callDatabase: createDatabase(database),
  deliver: byChannel({
    email: ({ notification_id: id, claim_id: attempt, address, body }) =>
      deliverEmail({ id, attempt, to: address, body }, smtp, timeoutMs),
    webhook: ({ notification_id: id, address, body, secrets }) =>
      deliverWebhook({ id, url: address, body, secrets }, {
        ...realConnections(get),
        timeoutMs,
        now: () => new Date(),
      }),
  }),
  // The most that a claim may ask for.
  limit: 100,
  keepAlive: (work) => {
    if (typeof EdgeRuntime !== "undefined") EdgeRuntime.waitUntil(work);
  },
  pause: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
});

Deno.serve(besideSealing(seal, notify));
