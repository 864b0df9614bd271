import { lookup } from "node:dns/promises";
import { createDatabase } from "../_shared/database.ts";
import { readEnv } from "../_shared/env.ts";
import { byChannel } from "./channels.ts";
import { deliverEmail, readSmtpSettings } from "./email.ts";
import { createNotifyHandler } from "./handler.ts";
import { deliverWebhook } from "./webhook.ts";

/** Hosted edge functions have this beside Deno. */
declare const EdgeRuntime: { waitUntil(work: Promise<void>): void } | undefined;

const get = (name: string) => Deno.env.get(name);
const env = readEnv(get);
const smtp = readSmtpSettings(get);
const timeoutMs = 15_000;

Deno.serve(createNotifyHandler({
  secret: get("LOGLOOM_NOTIFY_SECRET") || undefined,
  callDatabase: createDatabase({
    url: env.supabaseUrl,
    serviceKey: env.serviceKey,
    timeoutMs: 10_000,
  }),
  deliver: byChannel({
    email: ({ notification_id: id, claim_id: attempt, address, body }) =>
      deliverEmail({ id, attempt, to: address, body }, smtp, timeoutMs),
    webhook: ({ notification_id: id, address, body, secrets }) =>
      deliverWebhook({ id, url: address, body, secrets }, {
        allowLocal: get("LOGLOOM_ALLOW_LOCAL_WEBHOOKS") === "1",
        timeoutMs,
        now: () => new Date(),
        resolve: async (hostname) =>
          (await lookup(hostname, { all: true })).map(({ address }) => address),
        connect: async (hostname, port, tlsName) => {
          const conn = await Deno.connect({ hostname, port });
          return tlsName === undefined ? conn : await Deno.startTls(conn, {
            hostname: tlsName,
            alpnProtocols: ["http/1.1"],
          });
        },
      }),
  }),
  // The most that a claim may ask for.
  limit: 100,
  keepAlive: (work) => {
    if (typeof EdgeRuntime !== "undefined") EdgeRuntime.waitUntil(work);
  },
  pause: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
}));
