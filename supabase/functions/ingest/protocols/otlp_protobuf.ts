import type { Bytes } from "../unpacked_bytes.ts";
import type { EventCollector } from "../event_collector.ts";
import type { JsonObject } from "../json_reader.ts";
import {
  addRecord,
  MalformedOtlp,
  originOf,
  type OtlpOrigin,
  type OtlpRecord,
  type OtlpResource,
  type OtlpScope,
  resourceOf,
} from "./otlp_records.ts";
import { readSpan } from "./otlp_protobuf_spans.ts";
import { OtlpValues } from "./otlp_protobuf_values.ts";
import { addSpan } from "./otlp_spans.ts";
import { delimited, eachField, endOf, isMalformed, readNanos, readText } from "./protobuf.ts";

/**
 * Adds the records of an ExportLogsServiceRequest (opentelemetry/proto/collector/logs/v1/logs_service.proto). Events are
 * read directly from the bytes, without objects between.
 */
export function readLogsProtobuf(bytes: Bytes, events: EventCollector): void {
  read(bytes, (reader, end, origin) => addRecord(readRecord(reader, end), origin, events));
}

/**
 * Adds the spans of an ExportTraceServiceRequest (opentelemetry/proto/trace/v1/trace.proto), which has the fields of a
 * logs request down to its scopes. `added` is called after each.
 */
export function readSpansProtobuf(bytes: Bytes, events: EventCollector, added: () => void): void {
  read(bytes, (reader, end, origin) => {
    addSpan(readSpan(reader, end), origin, events);
    added();
  });
}

/** Adds the message that ends at `end`. */
type AddItem = (reader: OtlpReader, end: number, origin: OtlpOrigin) => void;

function read(bytes: Bytes, add: AddItem): void {
  try {
    new OtlpReader(bytes, add).readRequest();
  } catch (error) {
    if (!isMalformed(error)) throw error;
    throw new MalformedOtlp("The body is not an OTLP request in protobuf");
  }
}

class OtlpReader extends OtlpValues {
  readonly #add: AddItem;

  constructor(bytes: Bytes, add: AddItem) {
    super(bytes);
    this.#add = add;
  }

  readRequest(): void {
    const pbf = this.pbf;
    eachField(pbf, pbf.length, (field) => {
      if (field === 1 && pbf.type === delimited) this.#readResource(endOf(pbf, pbf.length));
    });
  }

  #readResource(end: number): void {
    const pbf = this.pbf;
    // The resource may come after its records.
    const resource: JsonObject = {};
    const scopes: number[] = [];
    let schemaUrl: string | undefined;
    eachField(pbf, end, (field) => {
      if (pbf.type !== delimited || field > 3) return;
      if (field === 3) {
        schemaUrl = readText(pbf, end) || undefined;
        return;
      }
      const inner = endOf(pbf, end);
      if (field === 1) this.readAttributes(inner, 1, resource);
      else this.#note(scopes, inner);
      pbf.pos = inner;
    });
    const after = pbf.pos;
    const told = resourceOf(resource);
    for (let at = 0; at < scopes.length; at += 2) {
      pbf.pos = scopes[at];
      this.#readScope(scopes[at + 1], told, schemaUrl);
    }
    pbf.pos = after;
  }

  #readScope(end: number, resource: OtlpResource, schemaUrl: string | undefined): void {
    const pbf = this.pbf;
    const items: number[] = [];
    const scope: OtlpScope = { schemaUrl };
    eachField(pbf, end, (field) => {
      if (pbf.type !== delimited || field > 3) return;
      if (field === 3) {
        scope.schemaUrl = readText(pbf, end) || schemaUrl;
        return;
      }
      const inner = endOf(pbf, end);
      if (field === 1) {
        eachField(pbf, inner, (part) => {
          if (pbf.type !== delimited) return;
          if (part === 1) scope.name = readText(pbf, inner) || undefined;
          else if (part === 2) scope.version = readText(pbf, inner) || undefined;
          else if (part === 3) {
            this.readKeyValue(endOf(pbf, inner), 1, scope.attributes ??= {});
          }
        });
      } else {
        this.#note(items, inner);
      }
      pbf.pos = inner;
    });
    const after = pbf.pos;
    const origin = originOf(resource, scope);
    for (let at = 0; at < items.length; at += 2) {
      pbf.pos = items[at];
      this.#add(this, items[at + 1], origin);
    }
    pbf.pos = after;
  }

  /** Notes the position of a message that is read later. */
  #note(places: number[], end: number): void {
    this.countValue();
    places.push(this.pbf.pos, end);
  }
}

function readRecord(values: OtlpValues, end: number): OtlpRecord {
  const { pbf } = values;
  const record: OtlpRecord = { attributes: {} };
  eachField(pbf, end, (field) => {
    switch (field * 8 + pbf.type) {
      case 1 * 8 + 1:
        record.time = readNanos(pbf);
        break;
      case 2 * 8 + 0:
        record.severityNumber = pbf.readVarint(true);
        break;
      case 3 * 8 + delimited:
        record.severityText = readText(pbf, end);
        break;
      case 5 * 8 + delimited:
        record.body = values.readValue(endOf(pbf, end), 1);
        break;
      case 6 * 8 + delimited:
        values.readKeyValue(endOf(pbf, end), 1, record.attributes);
        break;
      case 8 * 8 + 5:
        record.flags = pbf.readFixed32();
        break;
      case 1 * 8 + delimited:
        // A trace id or a name here belongs to a span or metric.
        throw new MalformedOtlp("The body holds spans or metrics: only logs are accepted here");
      case 7 * 8 + 0:
        record.droppedAttributes = pbf.readVarint();
        break;
      case 9 * 8 + delimited:
        record.traceId = values.readId(end, 16);
        break;
      case 10 * 8 + delimited:
        record.spanId = values.readId(end, 8);
        break;
      case 11 * 8 + 1:
        record.observed = readNanos(pbf);
        break;
      case 12 * 8 + delimited:
        record.eventName = readText(pbf, end);
    }
  });
  record.time ??= record.observed;
  return record;
}
