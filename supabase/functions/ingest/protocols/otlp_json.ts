import type { EventCollector } from "../collector.ts";
import { isObject, type JsonObject, jsonTextOf, setMember } from "../json.ts";
import { canonicalNumber, markedNumber, markNumber } from "../../_shared/numbers.ts";
import type { Content } from "../protocol.ts";
import { addRecord, MalformedOtlp, originOf, resourceOf } from "./otlp_records.ts";

/** Adds the records of an ExportLogsServiceRequest in JSON, whose ids are hexadecimal. */
export function readOtlpJson(content: Content, events: EventCollector): void {
  const request = content.parse(content.text);
  if (!isObject(request)) throw new MalformedOtlp("The body is no JSON object");
  for (const resourceLogs of listIn(request, "resourceLogs")) {
    const resource = resourceOf(attributesIn(memberIn(resourceLogs, "resource")));
    for (const scopeLogs of listIn(resourceLogs, "scopeLogs")) {
      const scope = memberIn(scopeLogs, "scope");
      const origin = originOf(resource, textIn(scope, "name"), textIn(scope, "version"));
      for (const record of arrayIn(scopeLogs, "logRecords")) {
        if (isObject(record)) addRecord(recordOf(record), origin, events);
        else events.reject("not_an_object", "A log record must be a JSON object");
      }
    }
  }
}

function recordOf(record: JsonObject) {
  return {
    time: timeIn(record, "timeUnixNano") ?? timeIn(record, "observedTimeUnixNano"),
    severityNumber: record.severityNumber,
    severityText: record.severityText,
    body: valueOf(record.body, 1),
    attributes: attributesIn(record),
    traceId: idIn(record, "traceId"),
    spanId: idIn(record, "spanId"),
    eventName: record.eventName,
    droppedAttributes: record.droppedAttributesCount,
  };
}

function arrayIn(object: JsonObject, key: string): readonly unknown[] {
  const list = Object.hasOwn(object, key) ? object[key] ?? [] : [];
  if (!Array.isArray(list)) throw new MalformedOtlp(`${key} is no array`);
  return list;
}

function listIn(object: JsonObject, key: string): readonly JsonObject[] {
  const list = arrayIn(object, key);
  if (!list.every(isObject)) throw new MalformedOtlp(`${key} holds what is no object`);
  return list;
}

function memberIn(object: JsonObject, key: string): JsonObject {
  const member = Object.hasOwn(object, key) ? object[key] : undefined;
  return isObject(member) ? member : {};
}

function textIn(object: JsonObject, key: string): string | undefined {
  const text = Object.hasOwn(object, key) ? object[key] : undefined;
  return typeof text === "string" && text !== "" ? text : undefined;
}

/** Nanoseconds as number or text; 0 is none. */
function timeIn(record: JsonObject, key: string): unknown {
  const time = record[key] ?? 0;
  return time === 0 || time === "0" || time === "" ? undefined : time;
}

/** Some senders write a missing id as zeros. */
function idIn(record: JsonObject, key: string): string | undefined {
  const id = textIn(record, key);
  return id === undefined || /^0*$/.test(id) ? undefined : id.toLowerCase();
}

function attributesIn(object: JsonObject): JsonObject {
  return membersOf(Array.isArray(object.attributes) ? object.attributes : [], 1);
}

function membersOf(list: readonly unknown[], depth: number): JsonObject {
  const members: JsonObject = {};
  for (const entry of list) {
    if (!isObject(entry) || typeof entry.key !== "string") continue;
    setMember(members, entry.key, valueOf(entry.value, depth));
  }
  return members;
}

/** A deeper value stays as its JSON. */
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
        return isObject(inner) && Array.isArray(inner.values)
          ? inner.values.map((item) => valueOf(item, depth + 1))
          : [];
      case "kvlistValue":
        return isObject(inner) && Array.isArray(inner.values)
          ? membersOf(inner.values, depth + 1)
          : {};
    }
  }
  return null;
}

/** 64-bit integers are text. */
function numberOf(value: unknown): unknown {
  if (typeof value !== "string" || markedNumber(value) !== undefined) return value;
  if (!/^-?\d{1,40}$/.test(value)) return value;
  return value.length < 16 ? Number(value) : markNumber(canonicalNumber(value));
}
