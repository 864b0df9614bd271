import { say, type Words } from "../shared/translate.ts";
import { type Zone } from "../address/range.ts";
import type { AlertDelivery } from "../service/logloom.ts";
import { ago, shortTime } from "../shared/format-time.ts";

interface DeliveryState {
  word: Words;
  tone: "good" | "bad" | "warn" | "plain";
  /** When the next attempt is, and when attempts end. */
  about: string | null;
}

/** The state of a delivery, with the next attempt after a failure. */
export function deliveryState(
  delivery: AlertDelivery,
  zone: Zone,
  now = Date.now(),
): DeliveryState {
  const { status, last_attempt_at, last_error, last_status, next_attempt_at, gives_up_at } =
    delivery;
  if (status === "delivered") return { word: "delivered", tone: "good", about: null };
  if (status === "failed") return { word: "failed", tone: "bad", about: null };
  const hasFailed = last_attempt_at !== null && (last_error !== null || last_status !== null);
  if (!hasFailed || next_attempt_at === null) {
    return { word: "on its way", tone: "plain", about: null };
  }
  const next = Date.parse(next_attempt_at) <= now
    ? say("next attempt now")
    : say("next attempt {when}", { when: ago(next_attempt_at, now) });
  const about = gives_up_at === null
    ? next
    : say("{next}, until {end}", { next, end: shortTime(Date.parse(gives_up_at), zone) });
  return { word: "retrying", tone: "warn", about };
}
