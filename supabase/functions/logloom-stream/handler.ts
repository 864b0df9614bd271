import { calledByJob, type JobCalls } from "../_shared/job_endpoint.ts";
import { settle, workAtClaims } from "../_shared/claimed_work.ts";
import type { CallDatabase } from "../_shared/database.ts";
import { describeError, logFailure } from "../_shared/errors.ts";
import type { Outgoing } from "../_shared/outgoing_request.ts";
import { openSecrets, type SealedSecrets } from "../_shared/sealed_secrets.ts";
import { type Batch, readBatch } from "./batch.ts";
import { sendBatch } from "./stream_kinds.ts";
import { type Outcome, retry } from "./delivery_outcome.ts";
import { oneAtATime } from "../_shared/one_at_a_time.ts";

export interface StreamDependencies extends Pick<JobCalls, "secret" | "keepAlive"> {
  readonly callDatabase: CallDatabase;
  /** Undefined if the function has no key. */
  readonly secrets: SealedSecrets | undefined;
  readonly send: Outgoing;
  /** Concurrent streams of this process; the database limits the total. */
  readonly limit: number;
  /** A call begins no further batch after this time, or after this processor time. */
  readonly budgetMs: number;
  readonly processorBudgetMs: number;
  readonly pause: (milliseconds: number) => Promise<void>;
  readonly now: () => Date;
  /** A monotonic clock in milliseconds. */
  readonly clock: () => number;
}

/** Secrets of streams are sealed for this purpose. */
export const purpose = "log_stream";

export function createStreamHandler(
  dependencies: StreamDependencies,
): (request: Request) => Promise<Response> {
  // Batches of one tenant are read one at a time, so that its streams together load the database no more than one
  // stream.
  const reading = oneAtATime(60_000);
  return calledByJob({
    ...dependencies,
    unset: "Log streams are not configured",
    job: "Notify",
    work: workAtClaims<Claim>({
      ...dependencies,
      operation: "claim_log_streams",
      begin: () => {
        const budget = new Budget(dependencies);
        return {
          isSpent: () => budget.isSpent,
          serve: (claim) =>
            serve(claim, reading, budget, dependencies).catch((error) =>
              logFailure("a log stream failed unexpectedly", { reason: describeError(error) })
            ),
        };
      },
    }),
  });
}

/** A claimed stream. An older database does not name its tenant. */
interface Claim {
  readonly stream_id: string;
  readonly claim_id: string;
  readonly tenant_id?: string;
}

/** The time and processor time that a call has left. */
class Budget {
  readonly #dependencies: StreamDependencies;
  readonly #began: number;
  #used = 0;

  constructor(dependencies: StreamDependencies) {
    this.#dependencies = dependencies;
    this.#began = dependencies.clock();
  }

  get isSpent(): boolean {
    const { clock, budgetMs, processorBudgetMs } = this.#dependencies;
    return clock() - this.#began > budgetMs || this.#used > processorBudgetMs;
  }

  /** Runs synchronous work and counts its time as processor time. */
  use<T>(work: () => T): T {
    const began = this.#dependencies.clock();
    try {
      return work();
    } finally {
      this.#used += this.#dependencies.clock() - began;
    }
  }
}

/** Sends a stream's batches one after the other, until none is left, or the stream's turn or the call's budget ends. */
async function serve(
  { stream_id, claim_id, tenant_id = "" }: Claim,
  reading: ReturnType<typeof oneAtATime>,
  budget: Budget,
  dependencies: StreamDependencies,
): Promise<void> {
  const { callDatabase, pause } = dependencies;
  for (;;) {
    const answer = await reading(tenant_id, () =>
      callDatabase(
        "read_log_stream_batch",
        JSON.stringify({ p_stream_id: stream_id, p_claim_id: claim_id }),
      ));
    if (!answer?.ok) return;
    const batch = budget.use(() => readBatch(answer.value));
    if (batch === undefined) return;
    const { outcome, resealed } = await attempt(batch, budget, dependencies);
    const parameters = JSON.stringify({
      p_stream_id: stream_id,
      p_claim_id: claim_id,
      p_batch_id: batch.id,
      p_release: budget.isSpent,
      ...settlement(outcome, batch),
      p_secrets: resealed,
    });
    const settled = await settle(() => callDatabase("settle_log_stream_batch", parameters), pause);
    if (!settled.ok || !(JSON.parse(settled.value) as { more: boolean }).more) return;
  }
}

async function attempt(
  batch: Batch,
  budget: Budget,
  { secrets, send, now }: StreamDependencies,
): Promise<{ outcome: Outcome; resealed?: Readonly<Record<string, string>> }> {
  let texts: Readonly<Record<string, string>> = {};
  let resealed: Readonly<Record<string, string>> | undefined;
  try {
    if (Object.keys(batch.secrets).length > 0) {
      if (secrets === undefined) return { outcome: retry("The function has no key for secrets") };
      const binding = { tenantId: batch.tenantId, purpose, customer: batch.customer };
      const opened = await openSecrets(batch.secrets, binding, secrets);
      if (opened === undefined) {
        return { outcome: retry("A secret cannot be opened: seal and set it again") };
      }
      ({ texts, resealed } = opened);
    }
    const sent = budget.use(() => sendBatch(batch, texts, send, now));
    return { outcome: await sent, resealed };
  } catch (error) {
    logFailure("a batch failed unexpectedly", { reason: describeError(error) });
    return { outcome: retry("The attempt failed unexpectedly"), resealed };
  }
}

/** An outcome as parameters for the database. */
function settlement(outcome: Outcome, { records }: Batch): Record<string, unknown> {
  const { status: p_status, answer: p_answer } = outcome;
  if (outcome.outcome === "delivered") {
    return {
      p_outcome: "delivered",
      p_status,
      p_refused: outcome.refused ?? [],
      p_rejected: outcome.rejected ?? 0,
      p_answer,
    };
  }
  const { error: p_error, retryAfter: p_retry_after } = outcome;
  if (outcome.outcome === "retry") {
    return { p_outcome: "retry", p_status, p_error, p_answer, p_retry_after };
  }
  const p_refused = records.length === 1 ? [placed(records[0])] : [];
  return { p_outcome: "refused", p_status, p_error, p_answer, p_refused };
}

function placed(record: string): { id: string; ts: string } {
  const { id, ts } = JSON.parse(record) as { id: string; ts: string };
  return { id, ts };
}
