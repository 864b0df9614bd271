import type { EventCollector } from "../collector.ts";
import { addMember, isObject, type JsonObject, jsonTextOf, setMember } from "../json.ts";
import { levelOf, otlpLevelOf } from "../levels.ts";
import { isOfIngest } from "./own_traffic.ts";

/** A log record with its values as in JSON. */
export interface OtlpRecord {
  /** Nanoseconds, as text or number. */
  time?: unknown;
  severityNumber?: unknown;
  severityText?: unknown;
  body?: unknown;
  attributes: JsonObject;
  /** Hexadecimal. */
  traceId?: string;
  spanId?: string;
  eventName?: unknown;
  droppedAttributes?: unknown;
}

/** The shared part of a scope's records. */
export interface OtlpOrigin {
  readonly defaults: { service?: string; env?: string; host?: string };
  readonly resource: JsonObject | undefined;
  readonly scope: string | undefined;
  readonly scopeVersion: string | undefined;
  readonly sharedBytes: number;
}

/** Thrown if a body is not an ExportLogsServiceRequest. */
export class MalformedOtlp extends Error {}

/** A resource's values, once for all of its scopes. */
export interface OtlpResource {
  readonly defaults: OtlpOrigin["defaults"];
  readonly resource: JsonObject | undefined;
  readonly bytes: number;
}

/** Splits a resource's attributes into our fields and those worth keeping. */
export function resourceOf(attributes: JsonObject): OtlpResource {
  const defaults: OtlpOrigin["defaults"] = {};
  let resource: JsonObject | undefined;
  for (const [key, value] of Object.entries(attributes)) {
    const field = resourceFields.get(key);
    if (field !== undefined && typeof value === "string" && defaults[field] === undefined) {
      defaults[field] = value;
    } else if (!key.startsWith("process.")) {
      // The sender's process is repeated in every request and says little about an event.
      setMember(resource ??= {}, key, value);
    }
  }
  return { defaults, resource, bytes: jsonTextOf([defaults, resource ?? null]).length };
}

export function originOf(
  { defaults, resource, bytes }: OtlpResource,
  scope = "",
  scopeVersion = "",
): OtlpOrigin {
  const sharedBytes = bytes + scope.length + scopeVersion.length;
  return {
    defaults,
    resource,
    scope: scope || undefined,
    scopeVersion: scopeVersion || undefined,
    sharedBytes,
  };
}

const resourceFields: ReadonlyMap<string, "service" | "env" | "host"> = new Map([
  ["service.name", "service"],
  ["deployment.environment.name", "env"],
  ["deployment.environment", "env"],
  ["host.name", "host"],
]);

export function addRecord(record: OtlpRecord, origin: OtlpOrigin, events: EventCollector): void {
  const { body, attributes, eventName } = record;
  let members = attributes;
  if (isObject(body)) {
    // Some senders put their whole record into the body.
    members = body;
    for (const key in attributes) {
      const isTaken = Object.hasOwn(members, key);
      setMember(members, isTaken ? `attributes.${key}` : key, attributes[key]);
    }
  }
  // Supabase's own drain.
  if (origin.scope === "Logflare" && isOfIngest({ ...members, event_message: body })) {
    events.leaveOut();
    return;
  }
  if (record.traceId !== undefined) addMember(members, "trace_id", record.traceId);
  if (record.spanId !== undefined) addMember(members, "span_id", record.spanId);
  if (origin.resource !== undefined) addMember(members, "resource", origin.resource);
  if (origin.scope !== undefined) addMember(members, "scope", origin.scope);
  if (origin.scopeVersion !== undefined) {
    addMember(members, "scope_version", origin.scopeVersion);
  }
  if (record.droppedAttributes) {
    addMember(members, "dropped_attributes_count", record.droppedAttributes);
  }
  const hasName = typeof eventName === "string" && eventName !== "";
  if (hasName) addMember(members, "event_name", eventName);
  const exception = members["exception.message"];
  const fallback = hasName ? eventName : typeof exception === "string" ? exception : undefined;
  events.add(members, {
    ...record.time !== undefined && { ts: record.time },
    ...severityOf(record),
    ...body !== undefined && body !== null && members !== body && { msg: body },
    sharedBytes: origin.sharedBytes,
    defaults: fallback === undefined ? origin.defaults : { ...origin.defaults, msg: fallback },
  });
}

function severityOf({ severityNumber, severityText }: OtlpRecord) {
  const text = typeof severityText === "string" ? severityText : "";
  const lower = text.toLowerCase();
  const number = typeof severityNumber === "string"
    ? namedSeverity(severityNumber)
    : Number(severityNumber ?? 0);
  const level = otlpLevelOf(number) ?? levelOf(lower);
  if (level === null && text === "") return undefined;
  return { level, originalLevel: level === lower || text === "" ? undefined : text };
}

const severityNames = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"];

/** Some JSON encoders write the enum's name: SEVERITY_NUMBER_WARN2. */
function namedSeverity(text: string): number {
  const [, name, place = "1"] = /^SEVERITY_NUMBER_([A-Z]+)([2-4])?$/.exec(text) ?? [];
  const at = severityNames.indexOf(name);
  return at === -1 ? Number(text) : 4 * at + Number(place);
}
