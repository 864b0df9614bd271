import { PbfWriter } from "pbf";
import { type Failure, failure, type Result, success } from "../../_shared/errors.ts";
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
import { readLogsJson, readSpansJson } from "./otlp_json.ts";
import { readLogsProtobuf, readSpansProtobuf } from "./otlp_protobuf.ts";
import { MalformedOtlp } from "./otlp_records.ts";

/** OTLP/HTTP logs: https://opentelemetry.io/docs/specs/otlp/#otlphttp, JSON and protobuf. */
export const otlp: Protocol = {
  ...receiver,
  saysWhatIsStored: true,
  maxEvents: 10_000,
  read: (incoming, content, events) =>
    readOtlp(incoming, content, (isJson) => {
      if (isJson) readLogsJson(content, events);
      else readLogsProtobuf(content.bytes, events);
      return ({ rejected, errors }) => ({ rejected, errors, item: "record", list: "LogRecords" });
    }),
  refused,
};

/** OTLP/HTTP traces: a span and each of its events is a record. */
export const otlpTraces: Protocol = {
  ...otlp,
  maxEvents: 20_000,
  read: (incoming, content, events) =>
    readOtlp(incoming, content, (isJson) => {
      // The answer counts spans, not records.
      events.listsAllErrors = true;
      const spanOf: number[] = [];
      let spans = 0;
      const added = () => {
        while (spanOf.length < events.count) spanOf.push(spans);
        spans++;
      };
      if (isJson) readSpansJson(content, events, added);
      else readSpansProtobuf(content.bytes, events, added);
      return ({ errors }) => {
        const bySpan = new Map(errors.map((error) => [spanOf[error.index], error]));
        // A span's own record comes first. A span without one of its events is stored.
        const rejected = errors.filter(({ index }) => spanOf[index - 1] !== spanOf[index]).length;
        return {
          rejected,
          errors: [...bySpan].map(([index, error]) => ({ ...error, index })),
          item: "span",
          list: "Spans",
        };
      };
    }),
};

/** Refuses metrics, which exporters send to the same host by default. */
export const otlpMetrics: Protocol = {
  ...otlp,
  greet: (incoming) =>
    refused(incoming, { status: 404, error: "Only logs and traces are accepted here" }),
};

/** The rejected part of a request, in its own items: log records or spans. */
interface Rejected extends Pick<Outcome, "rejected" | "errors"> {
  readonly item: string;
  /** The end of `rejected…`, the count's name. */
  readonly list: string;
}

function readOtlp(
  incoming: Incoming,
  content: Content,
  read: (isJson: boolean) => (outcome: Outcome) => Rejected,
): Result<Reading> {
  const isJson = saysJson(incoming, content.bytes[0]);
  try {
    const rejectedOf = read(isJson);
    return success({ accepted: (outcome) => accepted(rejectedOf(outcome), isJson) });
  } catch (error) {
    if (!(error instanceof MalformedOtlp)) throw error;
    return failure(400, error.message);
  }
}

/** Whether a body is JSON. Without a content type the first byte decides: no protobuf message begins with a brace. */
function saysJson({ headers }: Incoming, first?: number): boolean {
  const type = contentType(headers);
  return type.includes("json") || (!type.includes("protobuf") && first === 0x7b);
}

const protobufType = { "Content-Type": "application/x-protobuf" };

function accepted({ rejected, errors, item, list }: Rejected, isJson: boolean): Reply {
  const errorMessage = errors.slice(0, 3)
    .map(({ index, message }) => `${item} ${index}: ${message}`).join("; ");
  if (isJson) {
    return json(
      200,
      errorMessage === ""
        ? {}
        : { partialSuccess: { [`rejected${list}`]: String(rejected), errorMessage } },
    );
  }
  const writer = new PbfWriter();
  if (errorMessage !== "") {
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
