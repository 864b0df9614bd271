import type { EventCollector } from "../event_collector.ts";
import { type JsonObject, scalarText, setMember } from "../json_reader.ts";
import { addOrigin, type OtlpOrigin } from "./otlp_records.ts";

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

/** Adds a span as a record with `kind: "span"`, and its events as log records of its trace with `kind: "span_event"`. */
export function addSpan(span: OtlpSpan, origin: OtlpOrigin, events: EventCollector): void {
  const { attributes, start, end } = span;
  const status = enumName(span.statusCode, statusNames);
  const duration = durationOf(start, end);
  put(attributes, "kind", "span");
  put(attributes, "span_id", span.spanId);
  put(attributes, "parent_id", span.parentId);
  put(attributes, "span_kind", enumName(span.kind, kindNames));
  put(attributes, "duration_ms", duration);
  // A clock that was set back: no duration, but nothing is lost.
  if (duration === undefined) put(attributes, "end_time_unix_nano", end);
  put(attributes, "status", status);
  put(attributes, "status_message", span.statusMessage);
  if (span.links.length > 0) put(attributes, "links", span.links.map(linkOf));
  put(attributes, "trace_state", span.traceState);
  put(attributes, "flags", span.flags);
  put(attributes, "dropped_attributes_count", span.droppedAttributes);
  put(attributes, "dropped_events_count", span.droppedEvents);
  put(attributes, "dropped_links_count", span.droppedLinks);
  addOrigin(attributes, origin);
  const { traceId: reqId } = span;
  const { sharedBytes, defaults } = origin;
  const ts = start ?? end;
  events.add(attributes, {
    ts,
    level: status === "error" ? "error" : "info",
    msg: scalarText(span.name) ?? null,
    reqId,
    sharedBytes,
    defaults,
  });
  for (const { time = ts, name, attributes, droppedAttributes } of span.events) {
    const isException = name === "exception";
    const exception = isException ? exceptionText(attributes) : undefined;
    put(attributes, "kind", "span_event");
    put(attributes, "parent_id", span.spanId);
    put(attributes, "dropped_attributes_count", droppedAttributes);
    addOrigin(attributes, origin);
    events.add(attributes, {
      ts: time,
      level: isException ? "error" : "info",
      msg: exception ?? scalarText(name) ?? null,
      reqId,
      sharedBytes,
      defaults,
    });
  }
}

/** Sets a member unless OTLP's value is empty. The sender's attribute of this name is renamed. */
function put(attributes: JsonObject, key: string, value: unknown): void {
  if (value === undefined || value === null || value === "" || value === "0") return;
  if (value === 0 && key !== "duration_ms") return;
  if (Object.hasOwn(attributes, key)) {
    setMember(attributes, `attributes.${key}`, attributes[key]);
  }
  attributes[key] = value;
}

/** Milliseconds, exact to the microsecond; undefined without both times, or if the span ends before it starts. */
function durationOf(start: unknown, end: unknown): number | undefined {
  const [from, to] = [scalarText(start) ?? "", scalarText(end) ?? ""];
  if (!nanos.test(from) || !nanos.test(to)) return undefined;
  const micros = Number(to.slice(0, -3)) - Number(from.slice(0, -3)) -
    (to.slice(-3) < from.slice(-3) ? 1 : 0);
  return micros < 0 ? undefined : micros / 1000;
}

/** A time in nanoseconds whose microseconds a double holds exactly. */
const nanos = /^\d{4,18}$|^[1-8]\d{18}$/;

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
  put(link, "trace_id", traceId);
  put(link, "span_id", spanId);
  put(link, "trace_state", traceState);
  if (Object.keys(attributes).length > 0) link.attributes = attributes;
  return link;
}

/** `Type: message`, as runtimes print an exception. */
function exceptionText(attributes: JsonObject): string | undefined {
  const parts = ["exception.type", "exception.message"]
    .flatMap((key) => scalarText(attributes[key]) || []);
  return parts.length > 0 ? parts.join(": ") : undefined;
}
