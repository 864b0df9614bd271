import type { Failure } from "../_shared/errors.ts";
import type { EventError } from "./collector.ts";
import { commitEvents, type Committed, type Request } from "./commit.ts";
import type { Commit } from "./group_commit.ts";
import type { Outcome } from "./protocol.ts";
import type { TenantEvents } from "./tenant_events.ts";

/** Calls at a time: a request of many tenants leaves room for others. */
const maxCalls = 4;

interface Part {
  readonly tenant: string;
  readonly count: number;
  readonly committed: Committed;
}

/**
 * Commits the events of each tenant by itself: what refuses one leaves the others as they are, and each has its own
 * limits and idempotency key. The request fails as a whole only where every tenant was refused with one status.
 */
export async function commitForTenants(
  request: Omit<Request, "caller" | "events"> & { readonly events: TenantEvents },
  commit: Commit,
): Promise<Committed> {
  const { events, body } = request;
  const tenants = [...events.parts].sort(([one], [other]) => one < other ? -1 : 1);
  const parts: Part[] = [];
  const next = tenants.entries();
  await Promise.all(Array.from({ length: maxCalls }, async () => {
    for (const [n, [tenant, part]] of next) {
      const bytes = Math.round(body.length * part.count / Math.max(events.count, 1));
      const committed = await commitEvents(
        { ...request, caller: { kind: "tenant", tenantId: tenant }, events: part, bytes },
        commit,
      );
      parts[n] = { tenant, count: part.count, committed };
    }
  }));
  const outcome = new OutcomeOfTenants(parts, events.refused, events.rejected, body.length);
  return {
    outcome,
    failure: outcome.ingested === 0 ? failureOf(parts) : undefined,
    events: events.count,
    notes: parts.length === 1 ? parts[0].committed.notes : undefined,
  };
}

/** Where all tenants were refused alike: the first refusal, with the longest time to wait. */
function failureOf(parts: readonly Part[]): Failure | undefined {
  const failures = parts.map(({ committed }) => committed.failure);
  const [first] = failures;
  if (first === undefined || failures.some((one) => one?.status !== first.status)) return undefined;
  const waits = failures.map((one) => Number(one?.retryAfter ?? 0));
  return first.retryAfter === undefined
    ? first
    : { ...first, retryAfter: String(Math.max(...waits)) };
}

class OutcomeOfTenants implements Outcome {
  constructor(
    readonly parts: readonly Part[],
    readonly refused: readonly EventError[],
    readonly refusedCount: number,
    readonly bytes: number,
  ) {}

  get text(): string {
    const { ingested, rejected, cut, errors } = this;
    return JSON.stringify({
      success: ingested > 0 || rejected === 0,
      ingested,
      rejected,
      ...cut > 0 && { cut },
      ...rejected > 0 && { errors },
      tenants: this.parts.map(({ tenant, count, committed: { outcome, failure } }) => ({
        tenant_id: tenant,
        ingested: outcome.ingested,
        rejected: rejectedOf(count, outcome, failure),
        status: failure?.status ?? 200,
        ...failure !== undefined && { error: failure.error },
        ...failure?.retryAfter !== undefined && { retry_after: Number(failure.retryAfter) },
      })),
    });
  }

  get ingested(): number {
    return this.parts.reduce((sum, { committed }) => sum + committed.outcome.ingested, 0);
  }

  get rejected(): number {
    return this.parts.reduce(
      (sum, { count, committed: { outcome, failure } }) =>
        sum + rejectedOf(count, outcome, failure),
      this.refusedCount,
    );
  }

  get cut(): number {
    return this.parts.reduce((sum, { committed }) => sum + committed.outcome.cut, 0);
  }

  get errors(): readonly EventError[] {
    return [...this.refused, ...this.parts.flatMap(({ committed }) => committed.outcome.errors)];
  }
}

/** What a tenant may take later is not rejected: its status and time to wait stand beside it. */
function rejectedOf(count: number, outcome: Outcome, failure: Failure | undefined): number {
  if (failure === undefined || failure.status === 429 || failure.status >= 500) {
    return outcome.rejected;
  }
  return count - outcome.ingested;
}
