import type { EventCollector } from "../event_collector.ts";
import {
  addMember,
  isObject,
  type JsonObject,
  jsonTextOf,
  scalarText,
  setMember,
} from "../json_reader.ts";
import { canonicalNumber, markedNumber, markNumber } from "../../_shared/numbers.ts";
import type { Content } from "../protocol.ts";
import {
  addRecord,
  idFromBytes,
  idFromText,
  MalformedOtlp,
  originOf,
  type OtlpOrigin,
  type OtlpRecord,
  type OtlpScope,
  resourceOf,
} from "./otlp_records.ts";
import { addSpan, type OtlpSpan } from "./otlp_spans.ts";

/** What a request of one kind holds, and the names of its lists. */
interface Names {
  readonly what: string;
  readonly resources: string;
  readonly scopes: string;
  readonly items: string;
}

const logNames: Names = {
  what: "logs",
  resources: "resourceLogs",
  scopes: "scopeLogs",
  items: "logRecords",
};

const spanNames: Names = {
  what: "spans",
  resources: "resourceSpans",
  scopes: "scopeSpans",
  items: "spans",
};

/** Adds the records of an ExportLogsServiceRequest in JSON, whose ids are hexadecimal. */
export function readLogsJson(content: Content, events: EventCollector): void {
  for (const { item, origin } of itemsOf(content, logNames)) {
    if (isObject(item)) addRecord(recordOf(item), origin, events);
    else events.reject("not_an_object", "A log record must be a JSON object");
  }
}

/** Adds the spans of an ExportTraceServiceRequest in JSON. `added` is called after each. */
export function readSpansJson(content: Content, events: EventCollector, added: () => void): void {
  for (const { item, origin } of itemsOf(content, spanNames)) {
    if (isObject(item)) addSpan(spanOf(item), origin, events);
    else events.reject("not_an_object", "A span must be a JSON object");
    added();
  }
}

function* itemsOf(
  content: Content,
  { what, resources, scopes, items }: Names,
): Generator<{ readonly item: unknown; readonly origin: OtlpOrigin }> {
  const request = content.parse(content.text);
  if (!isObject(request)) throw new MalformedOtlp("The body is not a JSON object");
  for (const ofResource of listIn(request, resources, what, "")) {
    const resource = resourceOf(attributesIn(memberIn(ofResource, "resource")));
    for (const ofScope of listIn(ofResource, scopes, what, "resource schemaUrl")) {
      const origin = originOf(resource, scopeOf(ofScope, ofResource));
      for (const item of arrayIn(ofScope, items, what, "scope schemaUrl")) yield { item, origin };
    }
  }
}

function scopeOf(ofScope: JsonObject, ofResource: JsonObject): OtlpScope {
  const scope = memberIn(ofScope, "scope");
  const attributes = attributesIn(scope);
  return {
    name: textIn(scope, "name"),
    version: textIn(scope, "version"),
    attributes: Object.keys(attributes).length > 0 ? attributes : undefined,
    schemaUrl: textIn(ofScope, "schemaUrl") ?? textIn(ofResource, "schemaUrl"),
  };
}

/** Names in snake case, which OTLP does not allow. They are refused, because unknown members are ignored silently. */
const snakeCase =
  "time_unix_nano observed_time_unix_nano start_time_unix_nano end_time_unix_nano severity_number severity_text trace_id span_id parent_span_id trace_state event_name dropped_attributes_count"
    .split(" ");

function refuseSnakeCase(item: JsonObject): void {
  const wrong = snakeCase.find((name) => Object.hasOwn(item, name));
  if (wrong !== undefined) throw notCamelCase(wrong);
}

function recordOf(record: JsonObject): OtlpRecord {
  refuseSnakeCase(record);
  const time = timeIn(record, "timeUnixNano");
  const observed = timeIn(record, "observedTimeUnixNano");
  return {
    time: time ?? observed,
    observed,
    severityNumber: record.severityNumber,
    severityText: record.severityText,
    body: valueOf(record.body, 1),
    attributes: attributesIn(record),
    traceId: idOf(record.traceId, 16),
    spanId: idOf(record.spanId, 8),
    flags: record.flags,
    eventName: record.eventName,
    droppedAttributes: record.droppedAttributesCount,
  };
}

function spanOf(span: JsonObject): OtlpSpan {
  refuseSnakeCase(span);
  const status = memberIn(span, "status");
  return {
    name: span.name,
    traceId: idOf(span.traceId, 16),
    spanId: idOf(span.spanId, 8),
    parentId: idOf(span.parentSpanId, 8),
    kind: span.kind,
    start: timeIn(span, "startTimeUnixNano"),
    end: timeIn(span, "endTimeUnixNano"),
    attributes: attributesIn(span),
    statusCode: status.code,
    statusMessage: status.message,
    traceState: span.traceState,
    flags: span.flags,
    droppedAttributes: span.droppedAttributesCount,
    droppedEvents: span.droppedEventsCount,
    droppedLinks: span.droppedLinksCount,
    events: listOf(span, "events").map((event) => ({
      time: timeIn(event, "timeUnixNano"),
      name: event.name,
      attributes: attributesIn(event),
      droppedAttributes: event.droppedAttributesCount,
    })),
    links: listOf(span, "links").map((link) => ({
      traceId: idOf(link.traceId, 16),
      spanId: idOf(link.spanId, 8),
      traceState: link.traceState,
      attributes: attributesIn(link),
    })),
  };
}

/** A list of objects in a span; [] if it is missing. */
function listOf(span: JsonObject, key: string): readonly JsonObject[] {
  return listIn({ [key]: span[key] ?? [] }, key, "spans", "");
}

/** An id that is neither text nor bytes stays JSON text. */
function idOf(sent: unknown, size: number): string | undefined {
  if (
    Array.isArray(sent) && sent.length === size && sent.every((byte) => byte >= 0 && byte < 256)
  ) {
    return idFromBytes(Uint8Array.from(sent), size);
  }
  return idFromText(scalarText(sent ?? "") ?? jsonTextOf(sent), size);
}

function notCamelCase(name: string): MalformedOtlp {
  const right = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return new MalformedOtlp(`OTLP's JSON has ${right}, not ${name}`);
}

/**
 * The list in `key`, or [] if it is missing. Without the list, only the members in `beside` are allowed: any other
 * member means that this is another request.
 */
function arrayIn(
  object: JsonObject,
  key: string,
  what: string,
  beside: string,
): readonly unknown[] {
  const list = Object.hasOwn(object, key) ? object[key] ?? undefined : undefined;
  if (list === undefined) {
    const other = Object.keys(object).find((name) =>
      name !== key && !beside.split(" ").includes(name)
    );
    if (other === undefined) return [];
    if (other === key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)) {
      throw notCamelCase(other);
    }
    throw new MalformedOtlp(
      `${key} is missing, where ${other.slice(0, 60)} is: only ${what} are accepted here`,
    );
  }
  if (!Array.isArray(list)) throw new MalformedOtlp(`${key} must be an array`);
  return list;
}

function listIn(
  object: JsonObject,
  key: string,
  what: string,
  beside: string,
): readonly JsonObject[] {
  const list = arrayIn(object, key, what, beside);
  if (!list.every(isObject)) throw new MalformedOtlp(`${key} must hold objects only`);
  return list;
}

function memberIn(object: JsonObject, key: string): JsonObject {
  const member = Object.hasOwn(object, key) ? object[key] ?? {} : {};
  if (!isObject(member)) throw new MalformedOtlp(`${key} must be an object`);
  return member;
}

function textIn(object: JsonObject, key: string): string | undefined {
  const text = Object.hasOwn(object, key) ? object[key] : undefined;
  return scalarText(text) || undefined;
}

/** Nanoseconds as a number or text; undefined for 0. */
function timeIn(record: JsonObject, key: string): unknown {
  const time = record[key] ?? 0;
  return time === 0 || time === "0" || time === "" ? undefined : time;
}

function attributesIn(object: JsonObject): JsonObject {
  return membersOf(object.attributes ?? [], "attributes", 1);
}

/** Returns the members of a list of keys and values. Items of another shape stay under the list's name. */
function membersOf(list: unknown, name: string, depth: number): JsonObject {
  const members: JsonObject = {};
  if (isObject(list)) {
    for (const key in list) setMember(members, key, valueOf(list[key], depth));
    return members;
  }
  if (!Array.isArray(list)) return { [name]: list };
  const others: unknown[] = [];
  for (const entry of list) {
    const key = isObject(entry) ? scalarText(entry.key ?? "") : undefined;
    if (key === undefined) others.push(entry);
    else setMember(members, key, valueOf(entry.value, depth));
  }
  if (others.length > 0) addMember(members, name, others);
  return members;
}

const snakeKinds = /^(?:string|bool|int|double|array|kvlist|bytes)_value$/;
/** A value that is nested deeper stays JSON text. */
const maxDepth = 64;

function valueOf(value: unknown, depth: number): unknown {
  if (!isObject(value)) return value ?? null;
  if (depth > maxDepth) return jsonTextOf(value);
  for (const kind in value) {
    const inner = value[kind];
    switch (kind) {
      case "stringValue":
      case "boolValue":
      case "bytesValue":
        return inner;
      case "intValue":
      case "doubleValue":
        return numberOf(inner);
      case "arrayValue":
        if (!isObject(inner) || !Array.isArray(inner.values ?? [])) return inner;
        return (inner.values as unknown[] ?? []).map((item) => valueOf(item, depth + 1));
      case "kvlistValue":
        return isObject(inner) ? membersOf(inner.values ?? [], "values", depth + 1) : inner;
    }
  }
  const [kind] = Object.keys(value);
  if (kind === undefined) return null;
  if (snakeKinds.test(kind)) throw notCamelCase(kind);
  return value;
}

/** OTLP writes 64-bit integers as strings, and may also write doubles as strings. */
function numberOf(value: unknown): unknown {
  if (typeof value !== "string" || markedNumber(value) !== undefined) return value;
  if (!/^-?\d{1,40}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,2})?$/.test(value)) return value;
  return value.length < 16 ? Number(value) : markNumber(canonicalNumber(value));
}
