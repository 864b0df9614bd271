import { markedNumber, markNumbers, unmarkNumbers } from "../../_shared/numbers.ts";
import { epochSeconds, type Fields, partsOf } from "../batch.ts";
import type { Kind } from "../kind.ts";
import { judge } from "../outcome.ts";
import { post } from "../push.ts";

/** OTLP/HTTP in JSON: a resource for each service, environment and host. */
export const otlp: Kind = {
  push(batch, secrets, send) {
    const resources = new Map<string, unknown[]>();
    for (const record of batch.records) {
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
    const resourceLogs = [...resources].map(([attributes, logRecords]) => ({
      resource: { attributes: JSON.parse(attributes) },
      scopeLogs: [{ logRecords }],
    }));
    return post(batch, secrets, send, unmarkNumbers(JSON.stringify({ resourceLogs })), {});
  },

  judge(answer, batch) {
    const said = judge(answer, batch);
    if (said.outcome !== "delivered" || answer.body.length < 3) return said;
    try {
      const { partialSuccess } = JSON.parse(new TextDecoder().decode(answer.body)) as {
        partialSuccess?: { rejectedLogRecords?: string | number };
      };
      const rejected = Number(partialSuccess?.rejectedLogRecords ?? 0);
      return Number.isInteger(rejected) && rejected > 0
        ? { ...said, rejected: Math.min(rejected, batch.records.length) }
        : said;
    } catch {
      return said;
    }
  },
};

/** The first of each range of OTLP's severities. */
const severities: Readonly<Record<string, number>> = { debug: 5, info: 9, warn: 13, error: 17 };

function logRecord(fields: Fields, attrs: Record<string, unknown>): unknown {
  const { ts, received_at, level, msg, id, req_id, user_id, route } = fields;
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
      ...Object.entries(attrs).map(([key, value]) => ({ key, value: anyValue(value) })),
    ],
  };
}

function attributeIf(key: string, value: string | undefined) {
  return value === undefined ? [] : [{ key, value: { stringValue: value } }];
}

/** Attributes are at most 64 deep. */
function anyValue(value: unknown): unknown {
  switch (typeof value) {
    case "string": {
      const number = markedNumber(value);
      return number === undefined ? { stringValue: value } : numberValue(number, value);
    }
    case "number":
      return numberValue(String(value), value);
    case "boolean":
      return { boolValue: value };
  }
  if (value === null) return {};
  if (Array.isArray(value)) return { arrayValue: { values: value.map(anyValue) } };
  const members = Object.entries(value as object);
  return { kvlistValue: { values: members.map(([key, one]) => ({ key, value: anyValue(one) })) } };
}

/** 64-bit integers are texts. */
function numberValue(text: string, value: unknown): unknown {
  return /^-?\d{1,18}$/.test(text) ? { intValue: text } : { doubleValue: value };
}
