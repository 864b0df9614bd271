import { EventCollector, type EventError } from "./collector.ts";
import type { Envelope } from "./draft.ts";
import { isObject } from "./json.ts";

const maxTenants = 100;
const maxTenantLength = 255;

/**
 * Events of several tenants, under the project's secret key: each belongs to the tenant that the request names, or else
 * to its own `tenant_id`, which is then no attribute.
 */
export class TenantEvents extends EventCollector {
  readonly parts = new Map<string, EventCollector>();

  readonly #maxEvents: number;
  readonly #length: number;
  readonly #tenant: string | undefined;

  constructor(maxEvents: number, contentLength: number, tenant: string | undefined) {
    super(maxEvents, contentLength);
    this.#maxEvents = maxEvents;
    this.#length = contentLength;
    this.#tenant = tenant;
  }

  override add(event: unknown, envelope?: Envelope): void {
    if (!isObject(event)) return super.add(event, envelope);
    const tenant = this.#tenant ?? event.tenant_id;
    if (!isTenant(tenant)) {
      return this.reject(
        "tenant_is_missing",
        `Say whose event it is: tenant_id in the event, 1 to ${maxTenantLength} characters, or the header X-Logloom-Tenant`,
      );
    }
    let part = this.parts.get(tenant);
    if (part === undefined) {
      if (this.parts.size === maxTenants) {
        return this.reject(
          "too_many_tenants",
          `A request has events of at most ${maxTenants} tenants`,
        );
      }
      part = new EventCollector(this.#maxEvents, this.#length);
      this.parts.set(tenant, part);
    }
    if (this.#tenant === undefined) delete event.tenant_id;
    this.leaveOut();
    part.add(event, envelope, this.count - 1);
  }

  /** What belongs to no tenant. */
  get refused(): readonly EventError[] {
    return this.batch().p_errors ?? [];
  }
}

function isTenant(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "" && [...value].length <= maxTenantLength;
}
