import type { SealedSecrets } from "../_shared/sealed_secrets.ts";
import { discordPayload } from "./discord.ts";
import type { Notification } from "./handler.ts";
import { postJson } from "./http_channel.ts";
import { type Message, messageOf, readPayload } from "./message.ts";
import { failed, type Outcome } from "./delivery_outcome.ts";
import { deliverPagerduty } from "./pagerduty.ts";
import { openSecret } from "./channel_secrets.ts";
import { slackPayload } from "./slack.ts";
import { teamsPayload } from "./teams.ts";
import { deliverWebhook, type WebhookOptions } from "./webhook.ts";

/** The function that delivers, for each channel. */
export type Channels = Record<string, (notification: Notification) => Promise<Outcome>>;

/** Delivers by the notification's own channel; an unknown channel fails. */
export function byChannel(channels: Channels): (notification: Notification) => Promise<Outcome> {
  return (notification) =>
    Object.hasOwn(channels, notification.channel)
      ? channels[notification.channel](notification)
      : Promise.resolve(failed("The function logloom-notify does not know this channel"));
}

export interface HttpChannelOptions extends WebhookOptions {
  readonly secrets: SealedSecrets | undefined;
  readonly pagerdutyUrl: string;
}

const notOpened =
  "The channel's secret cannot be opened: see LOGLOOM_SECRETS_KEY, or set the secret again";

/** The channels that use HTTP. */
export function httpChannels(options: HttpChannelOptions): Channels {
  const { secrets } = options;
  const withAddress = (
    deliver: (address: string, notification: Notification) => Promise<Outcome>,
  ) =>
  async (notification: Notification): Promise<Outcome> => {
    const address = await openSecret(notification.address, notification, secrets);
    return address === undefined ? failed(notOpened) : await deliver(address, notification);
  };
  const posting = (payloadOf: (message: Message) => unknown) =>
    withAddress((url, { body }) => postJson(url, payloadOf(messageOf(readPayload(body))), options));
  return {
    webhook: async (notification) => {
      const opened: string[] = [];
      for (const secret of notification.secrets) {
        const text = await openSecret(secret, notification, secrets);
        if (text === undefined) return failed(notOpened);
        opened.push(text);
      }
      const { notification_id: id, address: url, body, template } = notification;
      return await deliverWebhook({ id, url, body, template, secrets: opened }, options);
    },
    slack: posting(slackPayload),
    discord: posting(discordPayload),
    teams: posting(teamsPayload),
    pagerduty: withAddress((key, { body }) => {
      const payload = readPayload(body);
      return deliverPagerduty(key, messageOf(payload), payload, options.pagerdutyUrl, options);
    }),
  };
}
