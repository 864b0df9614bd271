import type { EventCollector } from "../event_collector.ts";
import { type JsonObject, scalarText, setMember } from "../json_reader.ts";
import { addOrigin, addUnlessEmpty, type OtlpOrigin } from "./otlp_records.ts";

/** A span with its values as in JSON. Times are nanoseconds, as text or number. */
export interface OtlpSpan {
  name?: unknown;
  traceId?: string;
  spanId?: string;
  parentId?: string;
  /** The number or name of an enum. */
  kind?: unknown;
  start?: unknown;
  end?: unknown;
  attributes: JsonObject;
  statusCode?: unknown;
  statusMessage?: unknown;
  traceState?: unknown;
  flags?: unknown;
  droppedAttributes?: unknown;
  droppedEvents?: unknown;
  droppedLinks?: unknown;
  readonly events: OtlpSpanEvent[];
  readonly links: OtlpLink[];
}

export interface OtlpSpanEvent {
  time?: unknown;
  name?: unknown;
  attributes: JsonObject;
  droppedAttributes?: unknown;
}

export interface OtlpLink {
  traceId?: string;
  spanId?: string;
  traceState?: unknown;
  attributes: JsonObject;
}

/** Adds a span as a record with `kind: "span"`, and its events as log records of the same trace. */
export function addSpan(span: OtlpSpan, origin: OtlpOrigin, events: EventCollector): void {
  const status = enumName(span.statusCode, statusNames);
  const duration = durationOf(span);
  const members = membersOf(span.attributes, {
    kind: "span",
    span_id: span.spanId,
    parent_id: span.parentId,
    span_kind: enumName(span.kind, kindNames),
    status,
    status_message: span.statusMessage,
    links: span.links.length > 0 ? span.links.map(linkOf) : undefined,
    trace_state: span.traceState,
    flags: span.flags,
    dropped_attributes_count: span.droppedAttributes,
    dropped_events_count: span.droppedEvents,
    dropped_links_count: span.droppedLinks,
    // A clock that was set back: no duration, but nothing is lost.
    ...duration === undefined && { end_time_unix_nano: span.end },
  }, origin);
  if (duration !== undefined) members.duration_ms = duration;
  const time = span.start ?? span.end;
  const shared = {
    reqId: span.traceId,
    sharedBytes: origin.sharedBytes,
    defaults: origin.defaults,
  };
  events.add(members, {
    ...shared,
    ...time !== undefined && { ts: time },
    level: status === "error" ? "error" : "info",
    msg: scalarText(span.name) ?? null,
  });
  for (const event of span.events) {
    const name = scalarText(event.name) ?? null;
    const isException = name === "exception";
    const eventTime = event.time ?? time;
    const eventMembers = membersOf(event.attributes, {
      parent_id: span.spanId,
      dropped_attributes_count: event.droppedAttributes,
    }, origin);
    events.add(eventMembers, {
      ...shared,
      ...eventTime !== undefined && { ts: eventTime },
      level: isException ? "error" : "info",
      msg: (isException ? exceptionText(event.attributes) : undefined) ?? name,
    });
  }
}

/** Our own members, the sender's attributes, and the origin. An attribute that has the name of our member is renamed. */
function membersOf(attributes: JsonObject, own: JsonObject, origin: OtlpOrigin): JsonObject {
  const members: JsonObject = {};
  addUnlessEmpty(members, own);
  for (const key in attributes) {
    const isTaken = Object.hasOwn(members, key) || key === "duration_ms";
    setMember(members, isTaken ? `attributes.${key}` : key, attributes[key]);
  }
  addOrigin(members, origin);
  return members;
}

/** Milliseconds, exact to the microsecond; undefined without both times, or if the span ends before it starts. */
function durationOf({ start, end }: OtlpSpan): number | undefined {
  const [from, to] = [scalarText(start) ?? "", scalarText(end) ?? ""];
  if (!/^\d{1,20}$/.test(from) || !/^\d{1,20}$/.test(to)) return undefined;
  const nanos = BigInt(to) - BigInt(from);
  return nanos < 0n ? undefined : Number(nanos / 1000n) / 1000;
}

const kindNames = ["", "internal", "server", "client", "producer", "consumer"];
/** An unset status says nothing. */
const statusNames = ["", "ok", "error"];

/** The short name of an enum's value. Some JSON encoders write its long name: SPAN_KIND_SERVER, STATUS_CODE_ERROR. */
function enumName(value: unknown, names: readonly string[]): string | undefined {
  const text = scalarText(value) ?? "";
  const name = /^(?:SPAN_KIND|STATUS_CODE)_([A-Z]+)$/.exec(text)?.[1].toLowerCase();
  if (name !== undefined) return name === "unset" || name === "unspecified" ? undefined : name;
  return names[Number(text)] ?? text;
}

function linkOf({ traceId, spanId, traceState, attributes }: OtlpLink): JsonObject {
  const link: JsonObject = {};
  addUnlessEmpty(link, {
    trace_id: traceId,
    span_id: spanId,
    trace_state: traceState,
    attributes: Object.keys(attributes).length > 0 ? attributes : undefined,
  });
  return link;
}

/** `Type: message`, as runtimes print an exception. */
function exceptionText(attributes: JsonObject): string | undefined {
  const parts = ["exception.type", "exception.message"]
    .flatMap((key) => scalarText(attributes[key]) || []);
  return parts.length > 0 ? parts.join(": ") : undefined;
}
