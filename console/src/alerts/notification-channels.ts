import { type Words } from "../shared/translate.ts";
import type { AlertRule, Channel } from "../service/logloom.ts";

interface Place {
  label: Words;
  sample: string;
}

/** Channels whose address is shown. `key` is its name in `notification_config`. */
export const shownPlaces = {
  email: { label: "Email", key: "email", type: "email", sample: "ops@example.com" },
  webhook: {
    label: "Webhook",
    key: "webhook_url",
    type: "url",
    sample: "https://example.com/hook",
  },
} as const;

/** Channels whose address is a secret, because anybody who knows it can post there. `key` is the secret's name. */
export const secretPlaces = {
  slack: { label: "Slack", key: "slack_url", sample: "https://hooks.slack.com/services/…" },
  discord: { label: "Discord", key: "discord_url", sample: "https://discord.com/api/webhooks/…" },
  teams: { label: "Teams", key: "teams_url", sample: "https://….logic.azure.com/workflows/…" },
  pagerduty: {
    label: "PagerDuty",
    key: "pagerduty_key",
    sample: "R0123456789ABCDEFGHIJKLMNOPQRSTU",
  },
} as const satisfies Partial<Record<Channel, Place & { key: string }>>;

export type SecretChannel = keyof typeof secretPlaces;
export type ShownChannel = keyof typeof shownPlaces;

export const labelOf = (channel: Channel): string =>
  (channel in secretPlaces ? secretPlaces[channel as SecretChannel] : shownPlaces[
    channel as ShownChannel
  ]).label;

/** The address of a rule's channel, true for a secret that is set, or null for none. */
export function addressOf(rule: AlertRule, channel: Channel): string | true | null {
  if (channel in shownPlaces) {
    return rule.notification_config[shownPlaces[channel as ShownChannel].key] ?? null;
  }
  const { key } = secretPlaces[channel as SecretChannel];
  return rule.notification_secrets[key]?.set ?? null;
}
