import { markNumbers, unmarkNumbers } from "../../_shared/numbers.ts";
import { epochSeconds, type Fields, partsOf } from "../batch.ts";
import type { Kind } from "../stream_kind.ts";
import { judge } from "../delivery_outcome.ts";
import { post } from "../post_batch.ts";
import { anyValue, attributeIf } from "../../_shared/otlp_values.ts";
import { asProtobuf, type OtlpRecord, type OtlpResource, rejectedOf } from "./otlp_protobuf.ts";

/**
 * OTLP/HTTP, with a resource for each service, environment and host. Uses the stream's encoding. Without one, tries
 * JSON, and then protobuf if the receiver answers 415.
 */
export const otlp: Kind = {
  async push(batch, secrets, send) {
    const resourceLogs = resourcesOf(batch.records);
    const json = () =>
      post(batch, secrets, send, unmarkNumbers(JSON.stringify({ resourceLogs })), {});
    const protobuf = () =>
      post(batch, secrets, send, asProtobuf(resourceLogs), {
        "Content-Type": "application/x-protobuf",
      });
    switch (batch.config.encoding) {
      case "json":
        return json();
      case "protobuf":
        return protobuf();
    }
    const answer = await json();
    return "status" in answer && answer.status === 415 ? protobuf() : answer;
  },

  judge(answer, batch, now) {
    const said = judge(answer, batch, now);
    if (said.outcome !== "delivered") return said;
    try {
      const rejected = /protobuf/.test(answer.headers.get("content-type") ?? "")
        ? rejectedOf(answer.body)
        : rejectedInJson(answer.body);
      return Number.isInteger(rejected) && rejected > 0
        ? { ...said, rejected: Math.min(rejected, batch.records.length) }
        : said;
    } catch {
      return said;
    }
  },
};

function rejectedInJson(body: Uint8Array): number {
  const { partialSuccess } = JSON.parse(new TextDecoder().decode(body)) as {
    partialSuccess?: { rejectedLogRecords?: string | number };
  };
  return Number(partialSuccess?.rejectedLogRecords ?? 0);
}

function resourcesOf(records: readonly string[]): OtlpResource[] {
  const resources = new Map<string, OtlpRecord[]>();
  for (const record of records) {
    const { fields, attrs } = partsOf(record);
    const resource = JSON.stringify([
      ...attributeIf("service.name", fields.service),
      ...attributeIf("deployment.environment.name", fields.env),
      ...attributeIf("host.name", fields.host),
    ]);
    const logRecords = resources.get(resource) ?? [];
    if (logRecords.length === 0) resources.set(resource, logRecords);
    logRecords.push(logRecord(fields, attrs === undefined ? {} : JSON.parse(markNumbers(attrs))));
  }
  return [...resources].map(([attributes, logRecords]) => ({
    resource: { attributes: JSON.parse(attributes) },
    scopeLogs: [{ logRecords }],
  }));
}

/** The first number of each of OTLP's severity ranges. */
const severities: Readonly<Record<string, number>> = { debug: 5, info: 9, warn: 13, error: 17 };

function logRecord(fields: Fields, attrs: Record<string, unknown>): OtlpRecord {
  const { ts, received_at, level, msg, id, req_id, user_id, route } = fields;
  const { trace_id, span_id, ...others } = attrs;
  const traceId = idOf(trace_id, 32);
  const spanId = idOf(span_id, 16);
  const nanos = (time: string) => `${epochSeconds(time).replace(".", "")}000`;
  return {
    timeUnixNano: nanos(ts),
    ...received_at !== undefined && { observedTimeUnixNano: nanos(received_at) },
    ...level !== undefined && { severityNumber: severities[level], severityText: level },
    ...msg !== undefined && { body: { stringValue: msg } },
    attributes: [
      ...attributeIf("logloom.id", id),
      ...attributeIf("req_id", req_id),
      ...attributeIf("user_id", user_id),
      ...attributeIf("route", route),
      ...Object.entries({
        ...others,
        // A text that is not an id stays an attribute.
        ...traceId === undefined && trace_id !== undefined && { trace_id },
        ...spanId === undefined && span_id !== undefined && { span_id },
      }).map(([key, value]) => ({ key, value: anyValue(value) })),
    ],
    ...traceId !== undefined && { traceId },
    ...spanId !== undefined && { spanId },
  };
}

/** An id of this many hexadecimal digits, not all 0; undefined for any other value. */
function idOf(value: unknown, digits: number): string | undefined {
  return typeof value === "string" && value.length === digits && /^[0-9a-f]+$/i.test(value) &&
      /[^0]/.test(value)
    ? value.toLowerCase()
    : undefined;
}
