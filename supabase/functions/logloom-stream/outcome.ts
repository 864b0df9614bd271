import { type OutgoingAnswer, retryAfterOf } from "../_shared/outgoing.ts";
import type { Batch } from "./batch.ts";

/** A record that a receiver does not take. */
export interface Refused {
  readonly id: string;
  readonly ts: string;
  readonly status: number;
}

/**
 * The outcome of an attempt. The tenant sees `error`: no address, no secret, no text from the receiver. That is in
 * `answer`, for admins: its first characters, without the secrets that were sent.
 */
export type Outcome =
  | {
    readonly outcome: "delivered";
    readonly status: number;
    readonly refused?: readonly Refused[];
    /** Records that the receiver left out, without saying which. */
    readonly rejected?: number;
    readonly answer?: string;
  }
  | {
    readonly outcome: "retry" | "refused";
    readonly status?: number;
    readonly error: string;
    /** Seconds to wait, as the receiver asks. */
    readonly retryAfter?: number;
    readonly answer?: string;
  };

export function retry(error: string, status?: number, retryAfter?: number): Outcome {
  return { outcome: "retry", error, status, retryAfter };
}

/** Those by which address or credentials are wrong, not what is sent: the records wait. */
const ofTheAddress = new Set([401, 402, 403, 404, 405, 406, 407, 410, 411, 415, 421, 426, 451]);

/** Whether the records are not at fault: another time, or at another address, they may be taken. */
export function sparesRecords(status: number): boolean {
  return status >= 500 || status === 408 || status === 425 || status === 429 ||
    ofTheAddress.has(status);
}

/** What an answer says of the whole batch. */
export function judge(answer: OutgoingAnswer, { attempt }: Batch, now: Date): Outcome {
  const { status } = answer;
  if (status < 300) return { outcome: "delivered", status };
  if (status < 400) return retry(`HTTP ${status}: redirects are not followed`, status);
  // So receivers that know Idempotency-Key, ours among them, say that they have a batch of this id, not quite the same: a
  // record was erased, say.
  if (status === 409 && attempt > 0) return { outcome: "delivered", status };
  if (sparesRecords(status)) return retry(`HTTP ${status}`, status, retryAfterOf(answer, now));
  return { outcome: "refused", error: `HTTP ${status}`, status };
}

/** The first characters of what a receiver said: texts alone, and no secret that it says back. */
export function answerText(
  { body }: OutgoingAnswer,
  secrets: Readonly<Record<string, string>>,
): string | undefined {
  let text = new TextDecoder().decode(body.subarray(0, 4000));
  const parts = Object.values(secrets).flatMap((secret) => [secret, ...secret.split(/\s+/)]);
  for (const part of parts.toSorted((one, other) => other.length - one.length)) {
    if (part.length > 5) text = text.replaceAll(part, "***");
  }
  // deno-lint-ignore no-control-regex
  text = text.replace(/[\u0000-\u001f\u007f-\u009f\ufffd]+/g, " ").trim();
  return text === "" ? undefined : text.slice(0, 500);
}
