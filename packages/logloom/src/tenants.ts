import { host, later } from "./runtime.ts";
import { loggerOf, type LoggerOptions } from "./logger.ts";
import { createSender } from "./sender.ts";
import type { Logger } from "./types.ts";

export interface LoggersOptions extends Omit<LoggerOptions, "key" | "supabase" | "token"> {
  readonly url: string;
  /** The project's secret key, `sb_secret_…`. */
  readonly key: string;
}

export interface Loggers {
  /** Returns a logger for this tenant. It is cheap to call this for each event. */
  forTenant(id: string): Logger;
  /** Sends everything logged so far. False if it takes longer than `withinMs`, or if a tenant is over its limit. */
  flush(withinMs?: number): Promise<boolean>;
  [Symbol.asyncDispose](): Promise<void>;
}

type Event = Record<string, unknown> & { tenant_id?: string };

interface AnswerOfTenant {
  tenant_id: string;
  status: number;
  error?: string;
  retry_after?: number;
}

/** A tenant that is over its limit, and its waiting events. */
interface Held {
  readonly since: number;
  tries: number;
  events: Event[];
  length: number;
  /** The number of events that were dropped because too many events of all tenants waited. */
  lost: number;
  timer?: ReturnType<typeof setTimeout>;
}

const firstDelayMs = 1000;
const patienceMs = 300_000;
const heldEvents = 10_000;
const heldLength = 5_000_000;
const disposal: typeof Symbol.asyncDispose = Symbol.asyncDispose ??
  Symbol.for("Symbol.asyncDispose");

/**
 * Creates loggers for all tenants of a project, which share one queue. If a tenant is over its limit, only its own
 * events wait, and are retried for five minutes.
 */
export function createLoggers(options: LoggersOptions): Loggers {
  const held = new Map<string, Held>();
  let count = 0;
  let length = 0;

  const sender = createSender({
    ...options,
    onRejected(rejected) {
      // This is our own event about dropped events, which belongs to no tenant.
      if (rejected.code === "tenant_is_missing") sender.fail(new Error(`${rejected.event.msg}`));
      else options.onRejected?.(rejected);
    },
  }, settle);

  /** If some tenants are refused, the events of the others must not be sent again. */
  async function settle(answer: Response, body: string): Promise<Response> {
    if (answer.status !== 200 && answer.status !== 429) return answer;
    const events: Event[] = JSON.parse(body);
    const said = await answer.clone().json().catch(() => ({}));
    const retry_after = Number(answer.headers.get("Retry-After")) || undefined;
    const tenants: AnswerOfTenant[] = answer.status === 200
      ? said?.tenants ?? []
      : [...new Set(events.map((event) => event.tenant_id))].flatMap((tenant_id) =>
        tenant_id === undefined ? [] : { tenant_id, status: 429, error: said?.error, retry_after }
      );
    const away = tenants.filter(({ status }) => status >= 500);
    if (away.length > 0) {
      // These events may be stored already, so the same request is sent again with the same key.
      const after = Math.max(...away.map((one) => one.retry_after ?? 0));
      return new Response(JSON.stringify({ error: away[0].error }), {
        status: 503,
        headers: { "Retry-After": `${after}` },
      });
    }
    for (const tenant of tenants) {
      const own = () => events.filter(({ tenant_id }) => tenant_id === tenant.tenant_id);
      if (tenant.status === 429) hold(tenant, own());
      else {
        if (tenant.status !== 200) lose(tenant, own().length);
        goOn(tenant.tenant_id);
      }
    }
    return answer.status === 200 ? answer : new Response('{"success":false}');
  }

  function hold(tenant: AnswerOfTenant, events: Event[]): void {
    const { tenant_id, retry_after = 0 } = tenant;
    const known = held.get(tenant_id) ??
      { since: performance.now(), tries: 0, events: [], length: 0, lost: 0 };
    held.set(tenant_id, known);
    for (const event of events) keep(known, event);
    if (performance.now() - known.since >= patienceMs) {
      lose(tenant, release(known).length + known.lost);
      held.delete(tenant_id);
      return;
    }
    const delay = Math.max(retry_after * 1000, firstDelayMs * 2 ** known.tries++);
    known.timer ??= later(() => {
      for (const event of release(known)) sender.add(event, tenant_id);
    }, Math.min(patienceMs, delay));
  }

  /** The service takes this tenant's events. */
  function goOn(tenant_id: string): void {
    const known = held.get(tenant_id);
    if (!known) return;
    held.delete(tenant_id);
    for (const event of release(known)) sender.add(event, tenant_id);
    if (known.lost > 0) lose({ tenant_id, status: 429, error: "too many waited" }, known.lost);
  }

  function keep(known: Held, event: Event): void {
    const size = JSON.stringify(event).length;
    if (count >= heldEvents || length + size > heldLength) {
      known.lost++;
      return;
    }
    known.events.push(event);
    known.length += size;
    count++;
    length += size;
  }

  function release(known: Held): Event[] {
    const { events } = known;
    clearTimeout(known.timer);
    known.timer = undefined;
    count -= events.length;
    length -= known.length;
    known.events = [];
    known.length = 0;
    return events;
  }

  function lose({ tenant_id, status, error }: AnswerOfTenant, events: number): void {
    sender.fail(new Error(`tenant ${tenant_id}: ${status} ${error}: ${events} events are lost`));
  }

  function end(): void {
    for (const [tenant_id, known] of held) {
      const events = release(known).length + known.lost;
      if (events > 0) lose({ tenant_id, status: 429, error: "over its limit at the end" }, events);
    }
    held.clear();
  }
  host.process?.on?.("beforeExit", end);

  return {
    forTenant: (tenant_id) =>
      loggerOf(
        {
          ...sender,
          add(event) {
            const known = held.get(tenant_id);
            if (known?.timer) keep(known, { ...event, tenant_id });
            else sender.add({ ...event, tenant_id }, tenant_id);
          },
        },
        options,
        {},
      ),
    flush: async (withinMs) => await sender.flush(withinMs) && held.size === 0,
    async [disposal]() {
      await sender.close();
      host.process?.off?.("beforeExit", end);
      end();
    },
  };
}
