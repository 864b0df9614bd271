import { shortTime, type Zone } from "../address/range.ts";
import { ago } from "../shared/format.ts";

/** A delivery as list_alert_deliveries returns it. */
export interface Delivery {
  delivery_id: string;
  alert_id: string | null;
  channel: string;
  status: string;
  attempts: number;
  created_at: string;
  last_attempt_at: string | null;
  next_attempt_at: string | null;
  gives_up_at: string | null;
  delivered_at: string | null;
  last_status: number | null;
  last_error: string | null;
  purpose: "alert" | "test" | "confirmation";
}

interface Standing {
  word: string;
  tone: "good" | "bad" | "warn" | "plain";
  /** The time of the next attempt, and of the last one. */
  about: string | null;
}

/** The state of a delivery: a failed one that is retried says so. */
export function standingOf(delivery: Delivery, zone: Zone, now = Date.now()): Standing {
  const { status, last_attempt_at, last_error, last_status, next_attempt_at, gives_up_at } =
    delivery;
  if (status === "delivered") return { word: "delivered", tone: "good", about: null };
  if (status === "failed") return { word: "failed", tone: "bad", about: null };
  const hasFailed = last_attempt_at !== null && (last_error !== null || last_status !== null);
  if (!hasFailed || next_attempt_at === null) {
    return { word: "on its way", tone: "plain", about: null };
  }
  const next = Date.parse(next_attempt_at) <= now
    ? "next attempt now"
    : `next attempt ${ago(next_attempt_at, now)}`;
  const until = gives_up_at === null ? "" : `, until ${shortTime(Date.parse(gives_up_at), zone)}`;
  return { word: "retrying", tone: "warn", about: next + until };
}
