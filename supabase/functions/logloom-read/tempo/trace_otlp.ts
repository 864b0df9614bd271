import { Buffer } from "node:buffer";
import { PbfWriter } from "pbf";
import { sha256Hex } from "../../_shared/auth.ts";
import {
  anyValue,
  attributeIf,
  message,
  type OtlpAttribute,
  writeAttributes,
  writeFixed64,
} from "../../_shared/otlp_values.ts";
import { type Span, traceOf } from "../../_shared/trace.ts";
import type { RecordOfTrace } from "../read_trace.ts";

const kinds = ["unspecified", "internal", "server", "client", "producer", "consumer"]
  .map((kind) => `SPAN_KIND_${kind.toUpperCase()}`);
const codes = ["STATUS_CODE_UNSET", "STATUS_CODE_OK", "STATUS_CODE_ERROR"];

/** Attributes that a span or an event has in another place. */
const others = ("kind span_id parent_id span_kind duration_ms resource scope scope_version " +
  "trace_id status_message").split(" ");

/** A trace's spans in Tempo's JSON: OTLP, with ids in base64. The log records of a span are its events. */
export function resourceSpansOf(records: readonly RecordOfTrace[], id: string): object[] {
  const { spans, start } = traceOf(records);
  return spans.map((span) => {
    const { service, env, host, attrs } = span.record;
    const attributes = [
      ...attributeIf("service.name", textOf(service)),
      ...attributeIf("deployment.environment.name", textOf(env)),
      ...attributeIf("host.name", textOf(host)),
      ...attributesOf(Object(attrs?.resource)),
    ];
    const scope = { name: textOf(attrs?.scope), version: textOf(attrs?.scope_version) };
    return { resource: { attributes }, scopeSpans: [{ scope, spans: [spanOf(span, id, start)] }] };
  });
}

function spanOf({ id, record, logs, ...span }: Span<RecordOfTrace>, trace: string, start: number) {
  const { parent_id, span_kind, status, ...attrs } = record.attrs ?? {};
  const kind = kinds.indexOf(`SPAN_KIND_${textOf(span_kind)?.toUpperCase()}`);
  // The status of a logged request is a number, and an attribute.
  const isStatus = status === undefined || status === "ok" || status === "error";
  return {
    traceId: idOf(trace, 32),
    spanId: idOf(id ?? record.id, 16),
    parentSpanId: typeof parent_id === "string" ? idOf(parent_id, 16) : undefined,
    name: record.msg ?? "",
    kind: kinds[Math.max(0, kind)],
    startTimeUnixNano: nanosOf(start + span.start),
    endTimeUnixNano: nanosOf(start + span.start + span.duration),
    attributes: [
      ...attributeIf("http.route", textOf(record.route)),
      ...attributesOf(isStatus ? attrs : { ...attrs, status }),
    ],
    events: logs.map((log) => ({
      timeUnixNano: nanosOf(traceOf([log]).start),
      name: log.msg ?? "",
      attributes: attributesOf({ ...log.level !== "info" && { level: log.level }, ...log.attrs }),
    })),
    status: {
      code: codes[span.isError ? 2 : status === "ok" ? 1 : 0],
      message: textOf(attrs.status_message),
    },
  };
}

export function nanosOf(micros: number): string {
  return String(BigInt(micros) * 1000n);
}

function attributesOf(members: object): OtlpAttribute[] {
  return Object.entries(members).flatMap(([key, value]) =>
    others.includes(key) ? [] : [{ key: key.replace(/^attributes\./, ""), value: anyValue(value) }]
  );
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** An id's bytes in base64. An id of another form than OTLP's is replaced by its digest. */
function idOf(id: string, digits: number): string {
  const isHex = id.length === digits && /^[\da-f]+$/i.test(id);
  return Buffer.from(isHex ? id : sha256Hex(id).slice(0, digits), "hex").toString("base64");
}

/** The numbers of the members of each message; `v1` and `v2` are the answers of Tempo's endpoints. */
const numbers: Record<string, Record<string, number>> = {
  v1: { batches: 1 },
  v2: { trace: 1, status: 3, message: 4 },
  trace: { resourceSpans: 1 },
  batches: { resource: 1, scopeSpans: 2 },
  resourceSpans: { resource: 1, scopeSpans: 2 },
  resource: { attributes: 1 },
  scopeSpans: { scope: 1, spans: 2 },
  scope: { name: 1, version: 2 },
  // deno-fmt-ignore
  spans: {
    traceId: 1, spanId: 2, parentSpanId: 4, name: 5, kind: 6, startTimeUnixNano: 7,
    endTimeUnixNano: 8, attributes: 9, events: 11, status: 15,
  },
  events: { timeUnixNano: 1, name: 2, attributes: 3 },
  status: { message: 2, code: 3 },
};

/** Writes an answer as protobuf. */
export function asProtobuf(version: "v1" | "v2", answer: object): Uint8Array<ArrayBuffer> {
  const writer = new PbfWriter();
  writeMembers(writer, version, answer);
  return new Uint8Array(writer.finish());
}

function writeMembers(writer: PbfWriter, name: string, members: object): void {
  for (const [member, value] of Object.entries(members)) {
    const field = numbers[name][member];
    if (value === undefined) continue;
    if (member === "attributes") writeAttributes(writer, field, value);
    else if (typeof value === "object") {
      for (const one of [value].flat()) {
        message(writer, field, () => writeMembers(writer, member, one));
      }
    } else if (member.endsWith("Id")) writer.writeBytesField(field, Buffer.from(value, "base64"));
    else if (member.endsWith("Nano")) writeFixed64(writer, field, value);
    else if (member === "kind") writer.writeVarintField(field, kinds.indexOf(value));
    else if (member === "code") writer.writeVarintField(field, codes.indexOf(value));
    else if (name === "v2" && member === "status") writer.writeVarintField(field, 1);
    else writer.writeStringField(field, value);
  }
}
