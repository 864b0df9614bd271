import type { Notification } from "./handler.ts";
import { failed, type Outcome } from "./outcome.ts";

/** The ways to deliver a notification. A new channel has a name and a function here. */
export type Channels = Record<string, (notification: Notification) => Promise<Outcome>>;

/** Delivers with the notification's channel; an unknown channel is an error. */
export function byChannel(channels: Channels): (notification: Notification) => Promise<Outcome> {
  return (notification) =>
    Object.hasOwn(channels, notification.channel)
      ? channels[notification.channel](notification)
      : Promise.resolve(failed("The function logloom-notify does not know this channel"));
}
