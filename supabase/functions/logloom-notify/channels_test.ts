import { deepStrictEqual } from "node:assert/strict";
import { byChannel } from "./channels.ts";
import type { Notification } from "./handler.ts";

function notification(channel: string): Notification {
  return {
    notification_id: "n",
    claim_id: "c",
    channel,
    address: "a",
    body: "{}",
    secrets: [],
    tenant_id: "acme",
    rule_id: "r",
    template: null,
    is_complete: true,
    customer: null,
  };
}

Deno.test("a notification uses its own channel, and fails if the channel is unknown", async () => {
  const sent: string[] = [];
  const deliver = byChannel({
    email: ({ channel }) => {
      sent.push(channel);
      return Promise.resolve({ outcome: "delivered", status: 250 });
    },
    webhook: ({ channel }) => {
      sent.push(channel);
      return Promise.resolve({ outcome: "delivered", status: 200 });
    },
  });
  deepStrictEqual(await deliver(notification("email")), { outcome: "delivered", status: 250 });
  deepStrictEqual(await deliver(notification("webhook")), { outcome: "delivered", status: 200 });
  for (const channel of ["pager", "constructor", ""]) {
    deepStrictEqual(await deliver(notification(channel)), {
      outcome: "failed",
      error: "The function logloom-notify does not know this channel",
      status: undefined,
    });
  }
  deepStrictEqual(sent, ["email", "webhook"]);
});
