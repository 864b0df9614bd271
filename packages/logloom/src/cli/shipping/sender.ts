import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { Failure } from "../failure.ts";
import { type Batch, halves } from "./batches.ts";
import { userAgent } from "./events.ts";
import { type Exchange, exchange } from "./http_exchange.ts";

export interface SenderOptions {
  /** The project's address, for example http://127.0.0.1:54321. */
  readonly url: string;
  readonly apiKey: string;
  readonly gzip: boolean;
  /** How long one batch is retried. */
  readonly giveUpAfterMs: number;
  readonly wait: (ms: number) => Promise<void>;
  readonly now: () => number;
  readonly onRetry: (reason: string, delayMs: number) => void;
}

export interface Rejected {
  readonly index: number;
  readonly code: string;
  readonly message: string;
}

export interface Outcome {
  readonly accepted: number;
  readonly rejected: number;
  readonly errors: readonly Rejected[];
}

export type Send = (batch: Batch) => Promise<Outcome>;

const firstDelayMs = 500;
const longestDelayMs = 30_000;

export function createSender(options: SenderOptions): Send {
  const endpoint = `${options.url.replace(/\/+$/, "")}/functions/v1/ingest`;

  async function send(batch: Batch): Promise<Outcome> {
    const text = `[${batch.events.join(",")}]`;
    const body = options.gzip ? new Uint8Array(gzipSync(text)) : text;
    // All attempts have the same key, so a batch whose answer was lost is not stored twice.
    const idempotencyKey = batch.repeatOf === undefined ? crypto.randomUUID() : keyOf(batch, text);
    const deadline = options.now() + options.giveUpAfterMs;

    for (let tries = 0;; tries++) {
      const answer = await post(body, idempotencyKey);
      if (answer.kind === "accepted") return answer.outcome;
      if (answer.kind === "too large" && batch.events.length > 1) return sendHalves(batch);
      if (answer.kind !== "try again") throw new Failure(answer.reason);

      const backOff = Math.min(longestDelayMs, firstDelayMs * 2 ** tries);
      const delay = Math.max(answer.retryAfterMs, backOff * (0.5 + Math.random() / 2));
      if (options.now() + delay > deadline) {
        const times = tries === 0 ? "one try" : `${tries + 1} tries`;
        throw new Failure(`${answer.reason}; gave up after ${times}.`);
      }
      options.onRetry(answer.reason, delay);
      await options.wait(delay);
    }
  }

  async function sendHalves(batch: Batch): Promise<Outcome> {
    const [first, second] = halves(batch);
    const before = await send(first);
    const after = await send(second);
    const errors = after.errors.map((error) => ({
      ...error,
      index: error.index + first.events.length,
    }));
    return {
      accepted: before.accepted + after.accepted,
      rejected: before.rejected + after.rejected,
      errors: [...before.errors, ...errors],
    };
  }

  async function post(
    body: string | Uint8Array<ArrayBuffer>,
    idempotencyKey: string,
  ): Promise<Answer> {
    const headers = {
      "Content-Type": "application/json",
      "User-Agent": userAgent,
      "X-API-Key": options.apiKey,
      "Idempotency-Key": idempotencyKey,
      ...options.gzip && { "Content-Encoding": "gzip" },
    };
    return answerOf(await exchange(endpoint, { method: "POST", headers, body }, options.now));
  }

  return send;
}

/** Another run with the same file sends the same keys. The service recognises them for a day. */
function keyOf({ origins: [first], repeatOf }: Batch, text: string): string {
  return createHash("sha256").update(`${repeatOf}\n${first.line}\n${text}`).digest("hex");
}

type Answer =
  | { readonly kind: "accepted"; readonly outcome: Outcome }
  | { readonly kind: "try again"; readonly reason: string; readonly retryAfterMs: number }
  | { readonly kind: "too large" | "refused"; readonly reason: string };

function answerOf({ status, body, reason, passes, retryAfterMs }: Exchange): Answer {
  if (status === 200 && typeof body.ingested === "number" && typeof body.rejected === "number") {
    const errors = Array.isArray(body.errors) ? body.errors : [];
    return {
      kind: "accepted",
      outcome: { accepted: body.ingested, rejected: body.rejected, errors },
    };
  }
  if (status === 413) return { kind: "too large", reason };
  // A 200 with another body comes from a proxy, not from the service.
  return passes || status === 200
    ? { kind: "try again", reason, retryAfterMs }
    : { kind: "refused", reason };
}
