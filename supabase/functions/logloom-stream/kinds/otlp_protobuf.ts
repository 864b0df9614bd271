import { Buffer } from "node:buffer";
import { PbfReader, PbfWriter } from "pbf";
import { markedNumber } from "../../_shared/numbers.ts";

/** Values and records in the form of OTLP's JSON. Numbers too large for a double may be marked. */
export interface OtlpValue {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: string;
  readonly doubleValue?: unknown;
  readonly arrayValue?: { readonly values: readonly OtlpValue[] };
  readonly kvlistValue?: { readonly values: readonly OtlpAttribute[] };
}

export interface OtlpAttribute {
  readonly key: string;
  readonly value: OtlpValue;
}

export interface OtlpRecord {
  readonly timeUnixNano: string;
  readonly observedTimeUnixNano?: string;
  readonly severityNumber?: number;
  readonly severityText?: string;
  readonly body?: OtlpValue;
  readonly attributes: readonly OtlpAttribute[];
  readonly traceId?: string;
  readonly spanId?: string;
}

export interface OtlpResource {
  readonly resource: { readonly attributes: readonly OtlpAttribute[] };
  readonly scopeLogs: readonly { readonly logRecords: readonly OtlpRecord[] }[];
}

/** An ExportLogsServiceRequest: https://github.com/open-telemetry/opentelemetry-proto */
export function asProtobuf(resourceLogs: readonly OtlpResource[]): Uint8Array {
  const writer = new PbfWriter();
  for (const { resource, scopeLogs } of resourceLogs) {
    message(writer, 1, () => {
      message(writer, 1, () => writeAttributes(writer, 1, resource.attributes));
      for (const { logRecords } of scopeLogs) {
        message(writer, 2, () => {
          for (const record of logRecords) message(writer, 2, () => writeRecord(writer, record));
        });
      }
    });
  }
  return writer.finish();
}

/** The number of rejected records in an ExportLogsServiceResponse. */
export function rejectedOf(body: Uint8Array): number {
  const pbf = new PbfReader(body);
  let rejected = 0;
  for (let field = pbf.nextField(pbf.length); field !== 0; field = pbf.nextField(pbf.length)) {
    if (field !== 1) continue;
    const end = pbf.readVarint() + pbf.pos;
    for (let part = pbf.nextField(end); part !== 0; part = pbf.nextField(end)) {
      if (part === 1) rejected = pbf.readVarint(true);
    }
  }
  return rejected;
}

function message(writer: PbfWriter, field: number, write: () => void): void {
  writer.writeMessage(field, write, undefined);
}

function writeRecord(writer: PbfWriter, record: OtlpRecord): void {
  writeFixed64(writer, 1, record.timeUnixNano);
  if (record.observedTimeUnixNano !== undefined) {
    writeFixed64(writer, 11, record.observedTimeUnixNano);
  }
  if (record.severityNumber !== undefined) writer.writeVarintField(2, record.severityNumber);
  if (record.severityText !== undefined) writer.writeStringField(3, record.severityText);
  const { body } = record;
  if (body !== undefined) message(writer, 5, () => writeValue(writer, body));
  writeAttributes(writer, 6, record.attributes);
  if (record.traceId !== undefined) writer.writeBytesField(9, Buffer.from(record.traceId, "hex"));
  if (record.spanId !== undefined) writer.writeBytesField(10, Buffer.from(record.spanId, "hex"));
}

/** Replaces pbf's function, which goes through a double. */
function writeFixed64(writer: PbfWriter, field: number, text: string): void {
  const value = BigInt.asUintN(64, BigInt(text));
  writer.writeTag(field, 1);
  writer.writeFixed32(Number(value & 0xffffffffn));
  writer.writeFixed32(Number(value >> 32n));
}

function writeAttributes(
  writer: PbfWriter,
  field: number,
  attributes: readonly OtlpAttribute[],
): void {
  for (const { key, value } of attributes) {
    message(writer, field, () => {
      writer.writeStringField(1, key);
      message(writer, 2, () => writeValue(writer, value));
    });
  }
}

function writeValue(writer: PbfWriter, value: OtlpValue): void {
  const { stringValue, boolValue, intValue, doubleValue, arrayValue, kvlistValue } = value;
  if (stringValue !== undefined) writer.writeStringField(1, stringValue);
  else if (boolValue !== undefined) writer.writeBooleanField(2, boolValue);
  else if (intValue !== undefined) {
    writer.writeTag(3, 0);
    writeVarint(writer, BigInt.asUintN(64, BigInt(intValue)));
  } else if (doubleValue !== undefined) {
    const text = typeof doubleValue === "string" ? markedNumber(doubleValue) : undefined;
    writer.writeDoubleField(4, Number(text ?? doubleValue));
  } else if (arrayValue !== undefined) {
    message(writer, 5, () => {
      for (const one of arrayValue.values) message(writer, 1, () => writeValue(writer, one));
    });
  } else if (kvlistValue !== undefined) {
    message(writer, 6, () => writeAttributes(writer, 1, kvlistValue.values));
  }
}

/** Replaces pbf's function, which goes through a double, and would write a byte above 127 as two. */
function writeVarint(writer: PbfWriter, value: bigint): void {
  for (let rest = value;; rest >>= 7n) {
    writer.realloc(1);
    writer.buf[writer.pos++] = Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0);
    if (rest <= 0x7fn) return;
  }
}
