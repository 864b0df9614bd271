import { type OutgoingAnswer, retryAfterOf } from "../_shared/outgoing_request.ts";
import type { Batch } from "./batch.ts";

/** A record that a receiver refused. */
export interface Refused {
  readonly id: string;
  readonly ts: string;
  readonly status: number;
}

/**
 * The outcome of an attempt. The tenant sees `error`, which has no address, no secret and no text from the receiver.
 * Admins also see `answer`: the first characters of the receiver's text, without the secrets that were sent.
 */
export type Outcome =
  | {
    readonly outcome: "delivered";
    readonly status: number;
    readonly refused?: readonly Refused[];
    /** The number of records that the receiver left out without naming them. */
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

/** Statuses about the address or credentials, not about the records: the records wait. */
const ofTheAddress = new Set([401, 402, 403, 404, 405, 406, 407, 410, 411, 415, 421, 426, 451]);

/**
 * Whether a status says that the receiver or the address is at fault and not the records, so that the records may be
 * accepted later or elsewhere.
 */
export function sparesRecords(status: number): boolean {
  return status >= 500 || status === 408 || status === 425 || status === 429 ||
    ofTheAddress.has(status);
}

/** The outcome of a whole batch by the answer's status. */
export function judge(answer: OutgoingAnswer, { attempt, kind }: Batch, now: Date): Outcome {
  const { status } = answer;
  // A login page or start page also answers 200, so HTML is not a delivery. But a webhook may answer anything, and a
  // store of objects may send any type with its empty answer.
  if (
    status < 300 && kind !== "webhook" && kind !== "s3" &&
    /^text\/html\b/i.test(answer.headers.get("content-type") ?? "")
  ) {
    return retry("The receiver answered with a web page: is the address right?", status);
  }
  if (status < 300) return { outcome: "delivered", status };
  if (status < 400) return retry(`HTTP ${status}: redirects are not followed`, status);
  // Receivers that know Idempotency-Key, such as Logloom, answer 409 if they already have this batch with other content,
  // for example because a record was erased meanwhile.
  if (status === 409 && attempt > 0) return { outcome: "delivered", status };
  if (sparesRecords(status)) return retry(`HTTP ${status}`, status, retryAfterOf(answer, now));
  return { outcome: "refused", error: `HTTP ${status}`, status };
}

/** The first printable characters of a receiver's answer, without secrets that it repeats. */
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
