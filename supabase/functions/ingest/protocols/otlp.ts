import { PbfWriter } from "pbf";
import { type Failure, failure, type Result, success } from "../../_shared/errors.ts";
import type { EventCollector } from "../event_collector.ts";
import {
  type Content,
  contentType,
  explained,
  type Incoming,
  json,
  type Outcome,
  type Protocol,
  type Reading,
  receiver,
  type Reply,
} from "../protocol.ts";
import { readOtlpJson } from "./otlp_json.ts";
import { readOtlpProtobuf } from "./otlp_protobuf.ts";
import { MalformedOtlp } from "./otlp_records.ts";

/** OTLP/HTTP logs: https://opentelemetry.io/docs/specs/otlp/#otlphttp, JSON and protobuf. */
export const otlp: Protocol = {
  ...receiver,
  saysWhatIsStored: true,
  maxEvents: 10_000,
  read: readOtlp,
  refused,
};

/** Refuses traces and metrics, which exporters send to the same host by default. */
export const otlpOther: Protocol = {
  ...otlp,
  greet: (incoming) => refused(incoming, { status: 404, error: "Only logs are accepted here" }),
};

function readOtlp(incoming: Incoming, content: Content, events: EventCollector): Result<Reading> {
  const isJson = saysJson(incoming, content.bytes[0]);
  try {
    if (isJson) readOtlpJson(content, events);
    else readOtlpProtobuf(content.bytes, events);
  } catch (error) {
    if (!(error instanceof MalformedOtlp)) throw error;
    return failure(400, error.message);
  }
  return success({ accepted: (outcome) => accepted(outcome, isJson) });
}

/** Whether a body is JSON. Without a content type the first byte decides: no protobuf message begins with a brace. */
function saysJson({ headers }: Incoming, first?: number): boolean {
  const type = contentType(headers);
  return type.includes("json") || (!type.includes("protobuf") && first === 0x7b);
}

const protobufType = { "Content-Type": "application/x-protobuf" };

function accepted({ rejected, errors }: Outcome, isJson: boolean): Reply {
  const errorMessage = errors.slice(0, 3).map(({ index, message }) => `record ${index}: ${message}`)
    .join("; ");
  if (isJson) {
    return json(
      200,
      rejected === 0
        ? {}
        : { partialSuccess: { rejectedLogRecords: String(rejected), errorMessage } },
    );
  }
  const writer = new PbfWriter();
  if (rejected > 0) {
    writer.writeMessage(1, (_: undefined, partial) => {
      partial.writeVarintField(1, rejected);
      partial.writeStringField(2, errorMessage);
    }, undefined);
  }
  return { status: 200, headers: protobufType, body: new Uint8Array(writer.finish()) };
}

/** A google.rpc.Status. */
function refused(incoming: Incoming, failure: Failure): Reply {
  const { status } = failure;
  const message = explained(failure);
  if (saysJson(incoming)) return json(status, { message });
  const writer = new PbfWriter();
  writer.writeStringField(2, message);
  return { status, headers: protobufType, body: new Uint8Array(writer.finish()) };
}
