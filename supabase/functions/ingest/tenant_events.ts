import { EventCollector, type EventError } from "./event_collector.ts";
import type { Envelope } from "./event_draft.ts";
import { isObject } from "./json_reader.ts";
import { isText } from "../_shared/numbers.ts";

const maxTenants = 100;
const maxTenantLength = 255;

/** The events of one tenant. */
export class TenantPart extends EventCollector {
  /** About the length of its records, to compute its share of the body. */
  length = 0;

  override add(event: unknown, envelope: Envelope, position: number): void {
    super.add(event, envelope, position);
    this.length += this.lastLength + lengthOfRest;
  }
}

/** About the length of an event's names and punctuation. */
const lengthOfRest = 40;

/**
 * Events of several tenants, sent with the project's secret key. An event belongs to the tenant in the request's header,
 * or else to the tenant in its own `tenant_id`, which is then not stored as an attribute.
 */
export class TenantEvents extends EventCollector {
  readonly parts = new Map<string, TenantPart>();

  readonly #maxEvents: number;
  readonly #length: number;
  readonly #tenant: string | undefined;
  readonly #hops: number | undefined;

  constructor(maxEvents: number, contentLength: number, tenant: string | undefined, hops?: number) {
    super(maxEvents, contentLength);
    this.#hops = hops;
    this.#maxEvents = maxEvents;
    this.#length = contentLength;
    this.#tenant = tenant;
  }

  override add(event: unknown, envelope: Envelope = {}): void {
    if (!isObject(event)) return super.add(event, envelope);
    const tenant = this.#tenant ?? event.tenant_id;
    if (!isTenant(tenant)) {
      return this.reject(
        "tenant_is_missing",
        `Name the event's tenant: tenant_id in the event, 1 to ${maxTenantLength} characters, or the header X-Logloom-Tenant`,
      );
    }
    let part = this.parts.get(tenant);
    if (part === undefined) {
      if (this.parts.size === maxTenants) {
        return this.reject(
          "too_many_tenants",
          `A request may have events of at most ${maxTenants} tenants`,
        );
      }
      part = new TenantPart(this.#maxEvents, this.#length, this.#hops);
      part.listsAllErrors = this.listsAllErrors;
      this.parts.set(tenant, part);
    }
    if (this.#tenant === undefined) delete event.tenant_id;
    this.leaveOut();
    part.add(event, envelope, this.count - 1);
  }

  /** Errors of events without a tenant. */
  get refused(): readonly EventError[] {
    return this.batch().p_errors ?? [];
  }
}

/** The tenant in the header, whose characters are bytes: UTF-8, as curl sends it, or Latin-1. */
export function tenantOfHeader(value: string | null): string | undefined {
  if (value === null) return undefined;
  try {
    const bytes = Uint8Array.from(value, (letter) => letter.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return value;
  }
}

/** Whether a value can be a tenant's id: a text that the database can store. The database makes the final check. */
function isTenant(value: unknown): value is string {
  return isText(value) && value.trim() !== "" && [...value].length <= maxTenantLength &&
    // deno-lint-ignore no-control-regex
    !/[\0-\x1f\x7f-\x9f]|\p{Surrogate}/u.test(value);
}
