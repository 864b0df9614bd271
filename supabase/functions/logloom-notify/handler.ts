import { calledByJob, type JobCalls } from "../_shared/job_endpoint.ts";
import { settle, workAtClaims } from "../_shared/claimed_work.ts";
import type { CallDatabase } from "../_shared/database.ts";
import { describeError, logFailure } from "../_shared/errors.ts";
import { oneAtATime } from "../_shared/one_at_a_time.ts";
import { type Outcome, retry } from "./delivery_outcome.ts";
import type { Template } from "./template.ts";

/** A row of `claim_alert_notifications`. */
export interface Notification {
  readonly notification_id: string;
  readonly claim_id: string;
  readonly channel: string;
  readonly address: string;
  readonly body: string;
  readonly secrets: readonly string[];
  readonly tenant_id: string;
  readonly rule_id: string;
  readonly template: Template | null;
  /** Whether the body has the link and the records. */
  readonly is_complete: boolean;
  /** The customer of the tenant who made the rule. */
  readonly customer: string | null;
}

export interface NotifyDependencies extends Pick<JobCalls, "secret" | "keepAlive"> {
  readonly callDatabase: CallDatabase;
  readonly deliver: (notification: Notification) => Promise<Outcome>;
  /** Seals the secrets that are not sealed yet. */
  readonly sealAll: () => Promise<void>;
  /** Concurrent deliveries of this process; the database limits the total. */
  readonly limit: number;
  readonly pause: (milliseconds: number) => Promise<void>;
}

export function createNotifyHandler(
  dependencies: NotifyDependencies,
): (request: Request) => Promise<Response> {
  return calledByJob({
    ...dependencies,
    unset: "Notifications are not configured",
    job: "Notify",
    work: workAtClaims<Notification>({
      ...dependencies,
      operation: "claim_alert_notifications",
      begin: () => ({
        serve: (notification) => deliverAndSettle(notification, dependencies),
        beside: seal(dependencies),
      }),
    }),
  });
}

/** Seals while deliveries run. A failure does not stop them. */
async function seal({ sealAll }: NotifyDependencies): Promise<void> {
  try {
    await sealAll();
  } catch (error) {
    logFailure("sealing secrets failed", { reason: describeError(error) });
  }
}

/** Completes a tenant's notifications in turn: each needs a scan slot. A claim outlasts wait, read and delivery. */
const completing = oneAtATime(20_000);

/**
 * Adds the link and the records, unless the database does not answer in time. Null if the notification must not be sent
 * any more: another attempt has claimed it, or its rule or tenant was deleted.
 */
async function complete(
  notification: Notification,
  { callDatabase }: NotifyDependencies,
): Promise<Notification | null> {
  if (notification.is_complete !== false) return notification;
  const answer = await completing(
    notification.tenant_id,
    () =>
      callDatabase(
        "complete_alert_notification",
        JSON.stringify({
          p_notification_id: notification.notification_id,
          p_claim_id: notification.claim_id,
        }),
      ),
  );
  if (!answer?.ok) return notification;
  const body: string | null = JSON.parse(answer.value);
  return body === null ? null : { ...notification, body };
}

async function deliverAndSettle(
  notification: Notification,
  dependencies: NotifyDependencies,
): Promise<void> {
  const { callDatabase, deliver, pause } = dependencies;
  let outcome: Outcome;
  try {
    const completed = await complete(notification, dependencies);
    if (completed === null) return;
    outcome = await deliver(completed);
  } catch (error) {
    logFailure("a delivery failed unexpectedly", { reason: describeError(error) });
    outcome = retry("The delivery failed unexpectedly");
  }
  const parameters = JSON.stringify({
    p_notification_id: notification.notification_id,
    p_claim_id: notification.claim_id,
    p_outcome: outcome.outcome,
    p_status: outcome.status,
    p_error: outcome.outcome === "delivered" ? undefined : outcome.error,
    p_retry_after: outcome.outcome === "retry" ? outcome.retryAfter : undefined,
  });
  await settle(() => callDatabase("settle_alert_notification", parameters), pause);
}
