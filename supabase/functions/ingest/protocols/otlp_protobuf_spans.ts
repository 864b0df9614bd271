import type { OtlpValues } from "./otlp_protobuf_values.ts";
import { MalformedOtlp } from "./otlp_records.ts";
import type { OtlpLink, OtlpSpan, OtlpSpanEvent } from "./otlp_spans.ts";
import { delimited, eachField, endOf, readNanos, readText } from "./protobuf.ts";

/** Reads a Span that ends at `end` (opentelemetry/proto/trace/v1/trace.proto). */
export function readSpan(values: OtlpValues, end: number): OtlpSpan {
  const { pbf } = values;
  const span: OtlpSpan = { attributes: {}, events: [], links: [] };
  eachField(pbf, end, (field) => {
    switch (field * 8 + pbf.type) {
      case 1 * 8 + delimited:
        span.traceId = values.readId(end, 16);
        break;
      case 2 * 8 + delimited:
        span.spanId = values.readId(end, 8);
        break;
      case 3 * 8 + delimited:
        span.traceState = readText(pbf, end);
        break;
      case 4 * 8 + delimited:
        span.parentId = values.readId(end, 8);
        break;
      case 5 * 8 + delimited:
        span.name = readText(pbf, end);
        break;
      case 6 * 8 + 0:
        span.kind = pbf.readVarint(true);
        break;
      case 7 * 8 + 1:
        span.start = readNanos(pbf);
        break;
      case 8 * 8 + 1:
        span.end = readNanos(pbf);
        break;
      case 9 * 8 + delimited:
        values.readKeyValue(endOf(pbf, end), 1, span.attributes);
        break;
      case 10 * 8 + 0:
        span.droppedAttributes = pbf.readVarint();
        break;
      case 11 * 8 + delimited:
        span.events.push(readSpanEvent(values, endOf(pbf, end)));
        break;
      case 12 * 8 + 0:
        span.droppedEvents = pbf.readVarint();
        break;
      case 13 * 8 + delimited:
        span.links.push(readLink(values, endOf(pbf, end)));
        break;
      case 14 * 8 + 0:
        span.droppedLinks = pbf.readVarint();
        break;
      case 15 * 8 + delimited:
        readStatus(values, endOf(pbf, end), span);
        break;
      case 16 * 8 + 5:
        span.flags = pbf.readFixed32();
        break;
      case 1 * 8 + 1:
        // A log record's time.
        throw new MalformedOtlp("The body holds logs: only spans are accepted here");
    }
  });
  return span;
}

function readSpanEvent(values: OtlpValues, end: number): OtlpSpanEvent {
  const { pbf } = values;
  values.countValue();
  const event: OtlpSpanEvent = { attributes: {} };
  eachField(pbf, end, (field) => {
    switch (field * 8 + pbf.type) {
      case 1 * 8 + 1:
        event.time = readNanos(pbf);
        break;
      case 2 * 8 + delimited:
        event.name = readText(pbf, end);
        break;
      case 3 * 8 + delimited:
        values.readKeyValue(endOf(pbf, end), 1, event.attributes);
        break;
      case 4 * 8 + 0:
        event.droppedAttributes = pbf.readVarint();
    }
  });
  return event;
}

function readLink(values: OtlpValues, end: number): OtlpLink {
  const { pbf } = values;
  values.countValue();
  const link: OtlpLink = { attributes: {} };
  eachField(pbf, end, (field) => {
    if (pbf.type !== delimited) return;
    if (field === 1) link.traceId = values.readId(end, 16);
    else if (field === 2) link.spanId = values.readId(end, 8);
    else if (field === 3) link.traceState = readText(pbf, end);
    else if (field === 4) values.readKeyValue(endOf(pbf, end), 1, link.attributes);
  });
  return link;
}

function readStatus(values: OtlpValues, end: number, span: OtlpSpan): void {
  const { pbf } = values;
  eachField(pbf, end, (field) => {
    if (field === 2 && pbf.type === delimited) span.statusMessage = readText(pbf, end);
    else if (field === 3 && pbf.type === 0) span.statusCode = pbf.readVarint(true);
  });
}
