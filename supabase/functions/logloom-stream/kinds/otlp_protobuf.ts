import { Buffer } from "node:buffer";
import { PbfReader, PbfWriter } from "pbf";
import {
  message,
  type OtlpAttribute,
  type OtlpValue,
  writeAttributes,
  writeFixed64,
  writeValue,
} from "../../_shared/otlp_values.ts";

/** Records in the form of OTLP's JSON. */
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
