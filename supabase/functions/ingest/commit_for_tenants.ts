import type { Failure, Notes } from "../_shared/errors.ts";
import { type EventError, maxErrors, sendAgain } from "./event_collector.ts";
import { commitEvents, type Committed, nothing, type Request } from "./commit_request.ts";
import type { Commit } from "./group_commit.ts";
import type { Outcome } from "./protocol.ts";
import type { TenantEvents, TenantPart } from "./tenant_events.ts";

/** The most concurrent calls. Few, so that a request for many tenants does not block others. */
const maxCalls = 4;
/**
 * If the database is still unreachable after this time, the remaining tenants are not tried: the sender would not wait.
 */
const patienceMs = 5000;

interface Part {
  readonly tenant: string;
  readonly events: TenantPart;
  readonly committed: Committed;
}

/**
 * Commits the events of each tenant by itself, with the tenant's own limits and idempotency key. A refusal of one tenant
 * leaves the others as they are. The request fails as a whole only if all tenants were refused with the same status, or
 * all may try again.
 */
export async function commitForTenants(
  request: Omit<Request, "caller" | "events"> & { readonly events: TenantEvents },
  commit: Commit,
  now: () => number = () => performance.now(),
): Promise<Committed> {
  const { events, body } = request;
  const tenants = [...events.parts].sort(([one], [other]) => one < other ? -1 : 1);
  const length = tenants.reduce((sum, [, part]) => sum + part.length, 0);
  const parts: Part[] = [];
  const next = tenants.entries();
  const began = now();
  let away: Failure | undefined;
  await Promise.all(Array.from({ length: maxCalls }, async () => {
    for (const [n, [tenant, part]] of next) {
      const bytes = Math.round(body.length * part.length / length);
      const caller = { kind: "tenant", tenantId: tenant } as const;
      const committed = away !== undefined && now() - began > patienceMs
        ? nothing(body.length, away)
        : await commitEvents({ ...request, caller, events: part, bytes }, commit);
      if (committed.failure?.status === 503) away = committed.failure;
      parts[n] = { tenant, events: part, committed };
    }
  }));
  const outcome = new OutcomeOfTenants(parts, events.refused, events.rejected, body.length);
  return {
    outcome,
    failure: outcome.ingested === 0 ? failureOf(parts) : undefined,
    events: events.count,
    notes: parts.length === 1 ? parts[0].committed.notes : notesOf(parts),
  };
}

/** Keeps only the note about a silent writer, because notes about limits belong to one tenant. */
function notesOf(parts: readonly Part[]): Notes | undefined {
  const name = "x-logloom-writer";
  const silent = parts.find(({ committed }) => committed.notes?.[name] !== undefined);
  return silent && { [name]: silent.committed.notes?.[name] ?? "" };
}

/** Returns one refusal for all tenants, with the longest time to wait; undefined if their results differ. */
function failureOf(parts: readonly Part[]): Failure | undefined {
  const failures = parts.flatMap(({ committed: { failure } }) => failure ?? []);
  const [first] = failures;
  if (failures.length === 0 || failures.length < parts.length) return undefined;
  const areAlike = failures.every(({ status }) => status === first.status);
  if (!areAlike && !failures.every(mayPass)) return undefined;
  const told = areAlike ? first : failures.find(({ status }) => status !== 429) ?? first;
  const wait = Math.max(...failures.map(({ retryAfter }) => Number(retryAfter ?? 0)));
  return wait > 0 ? { ...told, retryAfter: String(wait) } : told;
}

function mayPass({ status }: Failure): boolean {
  return status === 429 || status >= 500;
}

class OutcomeOfTenants implements Outcome {
  constructor(
    readonly parts: readonly Part[],
    readonly refused: readonly EventError[],
    readonly refusedCount: number,
    readonly bytes: number,
  ) {}

  /**
   * Writes the answer. Events that may be sent again do not count as rejected. Instead, the answer lists their tenant's
   * status and wait.
   */
  get text(): string {
    const { ingested, cut, dropped, parts } = this;
    const tenants = parts.map(({ tenant, events, committed: { outcome, failure } }) => ({
      tenant_id: tenant,
      ingested: outcome.ingested,
      rejected: failure === undefined || mayPass(failure)
        ? outcome.rejected
        : events.count - outcome.ingested,
      ...outcome.dropped > 0 && { dropped: outcome.dropped },
      status: failure?.status ?? 200,
      ...failure !== undefined && { error: failure.error },
      ...failure?.retryAfter !== undefined && { retry_after: Number(failure.retryAfter) },
    }));
    const rejected = tenants.reduce((sum, one) => sum + one.rejected, this.refusedCount);
    const errors = [...this.refused, ...parts.flatMap(({ committed }) => committed.outcome.errors)];
    return JSON.stringify({
      success: ingested > 0 || parts.every(({ committed }) => !committed.failure) && rejected === 0,
      ingested,
      rejected,
      ...cut > 0 && { cut },
      ...dropped > 0 && { dropped },
      ...rejected > 0 && { errors: errors.slice(0, maxErrors) },
      tenants,
    });
  }

  get ingested(): number {
    return this.parts.reduce((sum, { committed }) => sum + committed.outcome.ingested, 0);
  }

  /** The number of events that were not stored, for protocols without tenants in their answers. */
  get rejected(): number {
    return this.parts.reduce(
      (sum, { events, committed: { outcome, failure } }) =>
        sum + (failure === undefined ? outcome.rejected : events.count - outcome.ingested),
      this.refusedCount,
    );
  }

  get cut(): number {
    return this.parts.reduce((sum, { committed }) => sum + committed.outcome.cut, 0);
  }

  get dropped(): number {
    return this.parts.reduce((sum, { committed }) => sum + committed.outcome.dropped, 0);
  }

  get errors(): readonly EventError[] {
    return [...this.refused, ...this.parts.flatMap(errorsOf)];
  }
}

/** The errors of rejected events, and of all events of a refused tenant. */
function errorsOf({ events, committed }: Part): readonly EventError[] {
  const { outcome, failure } = committed;
  if (failure === undefined) return outcome.errors;
  const code = mayPass(failure) ? sendAgain : "tenant_is_refused";
  const left = events.positionsAfter(committed.events)
    .map((index) => ({ index, code, message: failure.error }));
  return [...outcome.errors, ...left];
}
