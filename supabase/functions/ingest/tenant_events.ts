import { EventCollector, type EventError } from "./collector.ts";
import type { Envelope } from "./draft.ts";
import { isObject } from "./json.ts";
import { isText } from "../_shared/numbers.ts";

const maxTenants = 100;
const maxTenantLength = 255;

/** The events of one tenant. */
export class TenantPart extends EventCollector {
  /** Roughly the length of its records: its share of the body. */
  length = 0;

  override add(event: unknown, envelope: Envelope, position: number): void {
    super.add(event, envelope, position);
    this.length += this.lastLength + lengthOfRest;
  }
}

/** The names and the punctuation of an event. */
const lengthOfRest = 40;

/**
 * Events of several tenants, under the project's secret key: each belongs to the tenant that the request names, or else
 * to its own `tenant_id`, which is then no attribute.
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
      part = new TenantPart(this.#maxEvents, this.#length, this.#hops);
      part.listsAllErrors = this.listsAllErrors;
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

/** The tenant that a header names. Its letters are bytes: UTF-8, as curl sends it, or else Latin-1. */
export function tenantOfHeader(value: string | null): string | undefined {
  if (value === null) return undefined;
  try {
    const bytes = Uint8Array.from(value, (letter) => letter.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return value;
  }
}

/** As far as it can be told here; the database has the last word. What it cannot hold names nobody. */
function isTenant(value: unknown): value is string {
  return isText(value) && value.trim() !== "" && [...value].length <= maxTenantLength &&
    // deno-lint-ignore no-control-regex
    !/[\0-\x1f\x7f-\x9f]|\p{Surrogate}/u.test(value);
}
