import { Buffer } from "node:buffer";
import type { EventCollector } from "../event_collector.ts";
import {
  addMember,
  isObject,
  type JsonObject,
  jsonTextOf,
  scalarText,
  setMember,
} from "../json_reader.ts";
import { levelOf, otlpLevelOf } from "../levels.ts";
import { supabaseEnvelope } from "../supabase_events.ts";
import { isoFromText } from "../timestamps.ts";

/** A log record with its values as in JSON. */
export interface OtlpRecord {
  /** Nanoseconds, as text or number. */
  time?: unknown;
  severityNumber?: unknown;
  severityText?: unknown;
  body?: unknown;
  attributes: JsonObject;
  /** Nanoseconds; stored if they differ from the event's time. */
  observed?: unknown;
  traceId?: string;
  spanId?: string;
  flags?: unknown;
  eventName?: unknown;
  droppedAttributes?: unknown;
}

/** The scope of records. */
export interface OtlpScope {
  name?: string;
  version?: string;
  attributes?: JsonObject;
  /** The value of the scope, or else of its resource. */
  schemaUrl?: string;
}

/** The shared part of a scope's records. */
export interface OtlpOrigin {
  readonly defaults: { service?: string; env?: string; host?: string };
  readonly resource: JsonObject | undefined;
  readonly scope: OtlpScope;
  readonly sharedBytes: number;
}

/** Thrown if a body is not the request of its path: an ExportLogsServiceRequest or ExportTraceServiceRequest. */
export class MalformedOtlp extends Error {}

/** A resource's values, for all of its scopes. */
export interface OtlpResource {
  readonly defaults: OtlpOrigin["defaults"];
  readonly resource: JsonObject | undefined;
  readonly bytes: number;
}

/** Splits a resource's attributes into our fields and the attributes that are kept. */
export function resourceOf(attributes: JsonObject): OtlpResource {
  const defaults: OtlpOrigin["defaults"] = {};
  let resource: JsonObject | undefined;
  for (const [key, value] of Object.entries(attributes)) {
    const field = resourceFields.get(key);
    if (field !== undefined && typeof value === "string" && defaults[field] === undefined) {
      defaults[field] = value;
    } else if (!key.startsWith("process.")) {
      // Attributes of the sender's process are dropped: they are in every request and say little about an event.
      setMember(resource ??= {}, key, value);
    }
  }
  return { defaults, resource, bytes: jsonTextOf([defaults, resource ?? null]).length };
}

export function originOf(
  { defaults, resource, bytes }: OtlpResource,
  scope: OtlpScope,
): OtlpOrigin {
  return { defaults, resource, scope, sharedBytes: bytes + jsonTextOf(scope).length };
}

const resourceFields: ReadonlyMap<string, "service" | "env" | "host"> = new Map([
  ["service.name", "service"],
  ["deployment.environment.name", "env"],
  ["deployment.environment", "env"],
  ["host.name", "host"],
]);

export function addRecord(record: OtlpRecord, origin: OtlpOrigin, events: EventCollector): void {
  const { body, attributes } = record;
  let members = attributes;
  if (isObject(body)) {
    // Some senders put their whole record into the body.
    members = body;
    for (const key in attributes) {
      const isTaken = Object.hasOwn(members, key);
      setMember(members, isTaken ? `attributes.${key}` : key, attributes[key]);
    }
  }
  const eventName = scalarText(record.eventName) || undefined;
  const isDrain = origin.scope.name === "Logflare";
  // Supabase's message is either the body or the event's name. If it is the name, the body has all other members.
  if (isDrain && events.leaveOutOwn(members, eventName ?? body)) return;
  if (record.traceId !== undefined) addMember(members, "trace_id", record.traceId);
  if (record.spanId !== undefined) addMember(members, "span_id", record.spanId);
  addOrigin(members, origin);
  addUnlessEmpty(members, {
    flags: record.flags,
    dropped_attributes_count: record.droppedAttributes,
    observed_ts: observedOf(record),
  });
  if (eventName !== undefined && !isDrain) addMember(members, "event_name", eventName);
  const told = isDrain ? supabaseEnvelope(members) : undefined;
  events.add(members, {
    ...record.time !== undefined && { ts: record.time },
    ...severityOf(record),
    ...body !== undefined && body !== null && members !== body && { msg: body },
    sharedBytes: origin.sharedBytes,
    fallbackLevel: told?.fallbackLevel,
    defaults: {
      ...told?.defaults,
      ...origin.defaults,
      ...eventName !== undefined && { msg: eventName },
    },
  });
}

/** Adds the resource and the scope of a record or span. */
export function addOrigin(members: JsonObject, { resource, scope }: OtlpOrigin): void {
  if (resource !== undefined) addMember(members, "resource", resource);
  addUnlessEmpty(members, {
    scope: scope.name,
    scope_version: scope.version,
    scope_attributes: scope.attributes,
    schema_url: scope.schemaUrl,
  });
}

/** Adds values that say something: OTLP's empty values are 0 and "". */
function addUnlessEmpty(members: JsonObject, values: JsonObject): void {
  for (const [key, value] of Object.entries(values)) {
    if (value && value !== "0") addMember(members, key, value);
  }
}

/** The observed time, if it is not the event's time, in ISO 8601 with all its digits. */
function observedOf({ time, observed }: OtlpRecord): string | undefined {
  const text = scalarText(observed) ?? "";
  if (time === undefined || text === scalarText(time)) return undefined;
  const iso = isoFromText(text);
  if (iso === undefined) return text;
  return /^\d{19}$/.test(text) && !text.endsWith("000")
    ? iso.replace("Z", `${text.slice(-3)}Z`)
    : iso;
}

/**
 * An id of `size` bytes in hexadecimal. Some senders put its digits or its base64 in place of its bytes. Any other text
 * stays as it is. Undefined if the id is empty or zero.
 */
export function idFromBytes(bytes: Uint8Array, size: number): string | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const text = buffer.toString("latin1");
  const areDigits = bytes.length === 2 * size && isHex(text);
  const areRaw = !areDigits && (bytes.length === 8 || bytes.length === 16);
  if (areRaw || !/^[\x21-\x7e]*$/.test(text)) return unlessZero(buffer.toString("hex"));
  return idFromText(text, size);
}

/** An id from its digits or base64. Any other text stays as it is. */
export function idFromText(text: string, size: number): string | undefined {
  if (text.length === 2 * size && isHex(text)) return unlessZero(text.toLowerCase());
  if (/^[\w+/-]{11,43}={0,2}$/.test(text)) {
    const bytes = Buffer.from(text, "base64");
    const digits = bytes.toString("latin1");
    // Without padding, a text counts as base64 only if its decoded bytes give the same text again.
    const isExact = text.endsWith("=") ||
      bytes.toString("base64url") === text.replaceAll("+", "-").replaceAll("/", "_");
    if (bytes.length === size && isExact) return unlessZero(bytes.toString("hex"));
    if (bytes.length === 2 * size && isHex(digits)) return unlessZero(digits.toLowerCase());
  }
  return unlessZero(text);
}

function isHex(text: string): boolean {
  return /^[\da-f]+$/i.test(text);
}

function unlessZero(id: string): string | undefined {
  return /^0*$/.test(id) ? undefined : id;
}

function severityOf({ severityNumber, severityText }: OtlpRecord) {
  const text = scalarText(severityText) ?? "";
  const lower = text.trim().toLowerCase();
  const number = typeof severityNumber === "string"
    ? namedSeverity(severityNumber)
    : Number(severityNumber ?? 0);
  const level = otlpLevelOf(number) ?? levelOf(lower);
  if (level === null && text === "") {
    // A word, or a number that OpenTelemetry does not have.
    const said = number === 0 ? "" : scalarText(severityNumber) ?? "";
    return said === ""
      ? undefined
      : { level: Number.isNaN(number) ? levelOf(said.toLowerCase()) : null, originalLevel: said };
  }
  return { level, originalLevel: level === lower || text === "" ? undefined : text };
}

const severityNames = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"];

/** Some JSON encoders write the enum's name: SEVERITY_NUMBER_WARN2. */
function namedSeverity(text: string): number {
  const [, name, place = "1"] = /^SEVERITY_NUMBER_([A-Z]+)([2-4])?$/.exec(text) ?? [];
  const at = severityNames.indexOf(name);
  return at === -1 ? Number(text) : 4 * at + Number(place);
}
