import { type Words } from "../shared/words.ts";
import type { AlertRule, Channel } from "../service/logloom.ts";

interface Place {
  label: Words;
  sample: string;
}

/** Channels whose addresses are shown, by their members of `notification_config`. */
export const shownPlaces = {
  email: { label: "Email", key: "email", type: "email", sample: "ops@example.com" },
  webhook: {
    label: "Webhook",
    key: "webhook_url",
    type: "url",
    sample: "https://example.com/hook",
  },
} as const;

/** Channels whose addresses let anybody post there: secrets, by their names. */
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

/** Where a rule sends by a channel: the address, true where it is a secret that is set, or null. */
export function addressOf(rule: AlertRule, channel: Channel): string | true | null {
  if (channel in shownPlaces) {
    return rule.notification_config[shownPlaces[channel as ShownChannel].key] ?? null;
  }
  const { key } = secretPlaces[channel as SecretChannel];
  return rule.notification_secrets[key]?.set ?? null;
}
