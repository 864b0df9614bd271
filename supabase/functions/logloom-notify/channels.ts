import type { Notification } from "./handler.ts";
import { failed, type Outcome } from "./outcome.ts";

/** How a notification reaches whom it is for. A new channel has a name here and a way to deliver. */
export type Channels = Record<string, (notification: Notification) => Promise<Outcome>>;

/** Delivers by the channel of the notification; one that this version lacks is nobody else's. */
export function byChannel(channels: Channels): (notification: Notification) => Promise<Outcome> {
  return (notification) =>
    Object.hasOwn(channels, notification.channel)
      ? channels[notification.channel](notification)
      : Promise.resolve(failed("The function logloom-notify does not know this channel"));
}
