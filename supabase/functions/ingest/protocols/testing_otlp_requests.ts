import { Buffer } from "node:buffer";
import { PbfWriter } from "pbf";

type Value = string | number | bigint | boolean | Value[] | { [key: string]: Value } | Uint8Array;

interface Record {
  nanos?: bigint;
  observed?: bigint;
  number?: number;
  text?: string;
  body?: Value;
  attributes?: { [key: string]: Value };
  /** A text is written in JSON as it is, in protobuf as the bytes of its digits. */
  traceId?: string | Uint8Array;
  spanId?: string | Uint8Array;
  flags?: number;
  eventName?: string;
}

export interface OtlpRequest {
  resource?: { [key: string]: Value };
  scope?: string;
  scopeAttributes?: { [key: string]: Value };
  schemaUrl?: string;
  records: Record[];
}

function jsonValue(value: Value): unknown {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "bigint") return { intValue: String(value) };
  if (typeof value === "number") return { doubleValue: value };
  if (value instanceof Uint8Array) return { bytesValue: Buffer.from(value).toString("base64") };
  if (Array.isArray(value)) return { arrayValue: { values: value.map(jsonValue) } };
  return { kvlistValue: { values: jsonAttributes(value) } };
}

function jsonAttributes(attributes: { [key: string]: Value } = {}): unknown[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: jsonValue(value) }));
}

/** The same request as JSON and as protobuf. */
export function asJson(
  { resource, scope, scopeAttributes, schemaUrl, records }: OtlpRequest,
): string {
  return JSON.stringify({
    resourceLogs: [{
      resource: { attributes: jsonAttributes(resource) },
      scopeLogs: [{
        schemaUrl,
        scope: { name: scope, attributes: jsonAttributes(scopeAttributes) },
        logRecords: records.map((record) => ({
          timeUnixNano: String(record.nanos ?? 0),
          observedTimeUnixNano: String(record.observed ?? 0),
          severityNumber: record.number,
          severityText: record.text,
          body: record.body === undefined ? undefined : jsonValue(record.body),
          attributes: jsonAttributes(record.attributes),
          traceId: record.traceId,
          spanId: record.spanId,
          flags: record.flags,
          eventName: record.eventName,
        })),
      }],
    }],
  });
}

export function asProtobuf(
  { resource, scope, scopeAttributes, schemaUrl, records }: OtlpRequest,
): Uint8Array<ArrayBuffer> {
  const writer = new PbfWriter();
  writer.writeMessage(1, () => {
    writer.writeMessage(1, () => writeAttributes(resource, 1, writer), undefined);
    writer.writeMessage(2, () => {
      writer.writeMessage(1, () => {
        writer.writeStringField(1, scope ?? "");
        writeAttributes(scopeAttributes, 3, writer);
      }, undefined);
      if (schemaUrl) writer.writeStringField(3, schemaUrl);
      for (const record of records) {
        writer.writeMessage(2, () => writeRecord(record, writer), undefined);
      }
    }, undefined);
  }, undefined);
  return new Uint8Array(writer.finish());
}

interface Event {
  nanos: bigint;
  name: string;
  attributes?: { [key: string]: Value };
}

export interface Span {
  traceId: string;
  spanId: string;
  parentId?: string;
  name: string;
  kind?: number;
  start: bigint;
  end: bigint;
  attributes?: { [key: string]: Value };
  events?: Event[];
  links?: { traceId: string; spanId: string; attributes?: { [key: string]: Value } }[];
  status?: { code: number; message?: string };
}

export interface TraceRequest {
  resource?: { [key: string]: Value };
  scope?: string;
  spans: Span[];
}

/** The same ExportTraceServiceRequest as JSON and as protobuf. */
export function tracesAsJson({ resource, scope, spans }: TraceRequest): string {
  return JSON.stringify({
    resourceSpans: [{
      resource: { attributes: jsonAttributes(resource) },
      scopeSpans: [{
        scope: { name: scope },
        spans: spans.map(({ parentId, start, end, attributes, events, links, ...span }) => ({
          ...span,
          parentSpanId: parentId,
          startTimeUnixNano: String(start),
          endTimeUnixNano: String(end),
          attributes: jsonAttributes(attributes),
          events: events?.map(({ nanos, name, attributes }) => ({
            timeUnixNano: String(nanos),
            name,
            attributes: jsonAttributes(attributes),
          })),
          links: links?.map((link) => ({ ...link, attributes: jsonAttributes(link.attributes) })),
        })),
      }],
    }],
  });
}

export function tracesAsProtobuf(
  { resource, scope, spans }: TraceRequest,
): Uint8Array<ArrayBuffer> {
  const writer = new PbfWriter();
  const within = (field: number, write: () => void) => writer.writeMessage(field, write, undefined);
  const fixed64 = (field: number, value: bigint) => writeFixed64(field, value, writer);
  within(1, () => {
    within(1, () => writeAttributes(resource, 1, writer));
    within(2, () => {
      within(1, () => writer.writeStringField(1, scope ?? ""));
      for (const span of spans) {
        within(2, () => {
          writer.writeBytesField(1, bytesOf(span.traceId));
          writer.writeBytesField(2, bytesOf(span.spanId));
          if (span.parentId !== undefined) writer.writeBytesField(4, bytesOf(span.parentId));
          writer.writeStringField(5, span.name);
          if (span.kind !== undefined) writer.writeVarintField(6, span.kind);
          fixed64(7, span.start);
          fixed64(8, span.end);
          writeAttributes(span.attributes, 9, writer);
          for (const { nanos, name, attributes } of span.events ?? []) {
            within(11, () => {
              fixed64(1, nanos);
              writer.writeStringField(2, name);
              writeAttributes(attributes, 3, writer);
            });
          }
          for (const { traceId, spanId, attributes } of span.links ?? []) {
            within(13, () => {
              writer.writeBytesField(1, bytesOf(traceId));
              writer.writeBytesField(2, bytesOf(spanId));
              writeAttributes(attributes, 4, writer);
            });
          }
          const { status } = span;
          if (status !== undefined) {
            within(15, () => {
              if (status.message !== undefined) writer.writeStringField(2, status.message);
              writer.writeVarintField(3, status.code);
            });
          }
        });
      }
    });
  });
  return new Uint8Array(writer.finish());
}

function writeFixed64(field: number, value: bigint, writer: PbfWriter): void {
  writer.writeTag(field, 1);
  writer.writeFixed32(Number(value & 0xffffffffn));
  writer.writeFixed32(Number(value >> 32n));
}

function writeRecord(record: Record, writer: PbfWriter): void {
  if (record.nanos !== undefined) writeFixed64(1, record.nanos, writer);
  if (record.observed !== undefined) writeFixed64(11, record.observed, writer);
  if (record.number !== undefined) writer.writeVarintField(2, record.number);
  if (record.text !== undefined) writer.writeStringField(3, record.text);
  const { body } = record;
  if (body !== undefined) writer.writeMessage(5, () => writeValue(body, writer), undefined);
  writeAttributes(record.attributes, 6, writer);
  if (record.traceId) writer.writeBytesField(9, bytesOf(record.traceId));
  if (record.spanId) writer.writeBytesField(10, bytesOf(record.spanId));
  if (record.flags) {
    writer.writeTag(8, 5);
    writer.writeFixed32(record.flags);
  }
  if (record.eventName) writer.writeStringField(12, record.eventName);
}

function writeAttributes(
  attributes: { [key: string]: Value } = {},
  field: number,
  writer: PbfWriter,
): void {
  for (const [key, value] of Object.entries(attributes)) {
    writer.writeMessage(field, () => {
      writer.writeStringField(1, key);
      writer.writeMessage(2, () => writeValue(value, writer), undefined);
    }, undefined);
  }
}

function writeValue(value: Value, writer: PbfWriter): void {
  if (typeof value === "string") writer.writeStringField(1, value);
  else if (typeof value === "boolean") writer.writeBooleanField(2, value);
  else if (typeof value === "number") writer.writeDoubleField(4, value);
  else if (value instanceof Uint8Array) writer.writeBytesField(7, value);
  else if (typeof value === "bigint") {
    writer.writeTag(3, 0);
    let rest = BigInt.asUintN(64, value);
    const bytes: number[] = [];
    do {
      bytes.push(Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0));
      rest >>= 7n;
    } while (rest > 0n);
    for (const byte of bytes) {
      writer.realloc(1);
      writer.buf[writer.pos++] = byte;
    }
  } else if (Array.isArray(value)) {
    writer.writeMessage(5, () => {
      for (const item of value) writer.writeMessage(1, () => writeValue(item, writer), undefined);
    }, undefined);
  } else {
    writer.writeMessage(6, () => writeAttributes(value, 1, writer), undefined);
  }
}

function bytesOf(id: string | Uint8Array): Uint8Array {
  return typeof id === "string" ? Buffer.from(id, "hex") : id;
}
