import { PbfReader } from "pbf";
import type { Bytes } from "../unpacked_bytes.ts";
import type { EventCollector } from "../event_collector.ts";
import { type JsonObject, setMember } from "../json_reader.ts";
import { storedNumber } from "../../_shared/numbers.ts";
import {
  addRecord,
  idFromBytes,
  MalformedOtlp,
  originOf,
  type OtlpOrigin,
  type OtlpRecord,
  type OtlpResource,
  type OtlpScope,
  resourceOf,
} from "./otlp_records.ts";
import { addSpan, type OtlpLink, type OtlpSpan, type OtlpSpanEvent } from "./otlp_spans.ts";
import {
  delimited,
  eachField,
  endOf,
  isMalformed,
  readBase64,
  readBytes,
  readInt64,
  readNanos,
  readText,
} from "./protobuf.ts";

/**
 * Adds the records of an ExportLogsServiceRequest (opentelemetry/proto/collector/logs/v1/logs_service.proto). Events are
 * read directly from the bytes, without objects between.
 */
export function readLogsProtobuf(bytes: Bytes, events: EventCollector): void {
  read(bytes, (reader, end, origin) => addRecord(reader.readRecord(end), origin, events));
}

/**
 * Adds the spans of an ExportTraceServiceRequest (opentelemetry/proto/trace/v1/trace.proto), which has the fields of a
 * logs request down to its scopes. `added` is called after each.
 */
export function readSpansProtobuf(bytes: Bytes, events: EventCollector, added: () => void): void {
  read(bytes, (reader, end, origin) => {
    addSpan(reader.readSpan(end), origin, events);
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

/** The most attributes, items and members of a request. Each takes a few bytes, but far more in memory. */
const maxValues = 500_000;
/** A value that is nested deeper stays bytes. */
const maxDepth = 64;

class OtlpReader {
  readonly #pbf: PbfReader;
  readonly #add: AddItem;
  #values = 0;

  constructor(bytes: Bytes, add: AddItem) {
    this.#pbf = new PbfReader(bytes);
    this.#add = add;
  }

  readRequest(): void {
    const pbf = this.#pbf;
    eachField(pbf, pbf.length, (field) => {
      if (field === 1 && pbf.type === delimited) this.#readResource(endOf(pbf, pbf.length));
    });
  }

  #readResource(end: number): void {
    const pbf = this.#pbf;
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
      if (field === 1) this.#readAttributes(inner, 1, resource);
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
    const pbf = this.#pbf;
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
            this.#readKeyValue(endOf(pbf, inner), 1, scope.attributes ??= {});
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

  readRecord(end: number): OtlpRecord {
    const pbf = this.#pbf;
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
          record.body = this.#readValue(endOf(pbf, end), 1);
          break;
        case 6 * 8 + delimited:
          this.#readKeyValue(endOf(pbf, end), 1, record.attributes);
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
          record.traceId = this.#readId(end, 16);
          break;
        case 10 * 8 + delimited:
          record.spanId = this.#readId(end, 8);
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

  readSpan(end: number): OtlpSpan {
    const pbf = this.#pbf;
    const span: OtlpSpan = { attributes: {}, events: [], links: [] };
    eachField(pbf, end, (field) => {
      switch (field * 8 + pbf.type) {
        case 1 * 8 + delimited:
          span.traceId = this.#readId(end, 16);
          break;
        case 2 * 8 + delimited:
          span.spanId = this.#readId(end, 8);
          break;
        case 3 * 8 + delimited:
          span.traceState = readText(pbf, end);
          break;
        case 4 * 8 + delimited:
          span.parentId = this.#readId(end, 8);
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
          this.#readKeyValue(endOf(pbf, end), 1, span.attributes);
          break;
        case 10 * 8 + 0:
          span.droppedAttributes = pbf.readVarint();
          break;
        case 11 * 8 + delimited:
          span.events.push(this.#readSpanEvent(endOf(pbf, end)));
          break;
        case 12 * 8 + 0:
          span.droppedEvents = pbf.readVarint();
          break;
        case 13 * 8 + delimited:
          span.links.push(this.#readLink(endOf(pbf, end)));
          break;
        case 14 * 8 + 0:
          span.droppedLinks = pbf.readVarint();
          break;
        case 15 * 8 + delimited:
          this.#readStatus(endOf(pbf, end), span);
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

  #readSpanEvent(end: number): OtlpSpanEvent {
    const pbf = this.#pbf;
    this.#countValue();
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
          this.#readKeyValue(endOf(pbf, end), 1, event.attributes);
          break;
        case 4 * 8 + 0:
          event.droppedAttributes = pbf.readVarint();
      }
    });
    return event;
  }

  #readLink(end: number): OtlpLink {
    const pbf = this.#pbf;
    this.#countValue();
    const link: OtlpLink = { attributes: {} };
    eachField(pbf, end, (field) => {
      if (pbf.type !== delimited) return;
      if (field === 1) link.traceId = this.#readId(end, 16);
      else if (field === 2) link.spanId = this.#readId(end, 8);
      else if (field === 3) link.traceState = readText(pbf, end);
      else if (field === 4) this.#readKeyValue(endOf(pbf, end), 1, link.attributes);
    });
    return link;
  }

  #readStatus(end: number, span: OtlpSpan): void {
    const pbf = this.#pbf;
    eachField(pbf, end, (field) => {
      if (field === 2 && pbf.type === delimited) span.statusMessage = readText(pbf, end);
      else if (field === 3 && pbf.type === 0) span.statusCode = pbf.readVarint(true);
    });
  }

  #readId(end: number, size: number): string | undefined {
    return idFromBytes(readBytes(this.#pbf, endOf(this.#pbf, end)), size);
  }

  /** Reads key-values: of a Resource or a KeyValueList. */
  #readAttributes(end: number, depth: number, into: JsonObject): void {
    const pbf = this.#pbf;
    eachField(pbf, end, (field) => {
      if (field === 1 && pbf.type === delimited) this.#readKeyValue(endOf(pbf, end), depth, into);
    });
  }

  #readKeyValue(end: number, depth: number, into: JsonObject): void {
    const pbf = this.#pbf;
    this.#countValue();
    let key = "";
    let value: unknown = null;
    eachField(pbf, end, (field) => {
      if (pbf.type !== delimited) return;
      if (field === 1) key = readText(pbf, end);
      else if (field === 2) value = this.#readValue(endOf(pbf, end), depth);
    });
    setMember(into, key, value);
  }

  #readValue(end: number, depth: number): unknown {
    const pbf = this.#pbf;
    this.#countValue();
    if (depth > maxDepth) return readBase64(pbf, end);
    let value: unknown = null;
    eachField(pbf, end, (field) => {
      switch (field * 8 + pbf.type) {
        case 1 * 8 + delimited:
          value = readText(pbf, end);
          break;
        case 2 * 8 + 0:
          value = pbf.readBoolean();
          break;
        case 3 * 8 + 0:
          value = readInt64(pbf);
          break;
        case 4 * 8 + 1:
          value = storedNumber(pbf.readDouble());
          break;
        case 5 * 8 + delimited: {
          const items: unknown[] = [];
          const inner = endOf(pbf, end);
          eachField(pbf, inner, (part) => {
            if (part !== 1 || pbf.type !== delimited) return;
            items.push(this.#readValue(endOf(pbf, inner), depth + 1));
          });
          value = items;
          break;
        }
        case 6 * 8 + delimited: {
          const members: JsonObject = {};
          this.#readAttributes(endOf(pbf, end), depth + 1, members);
          value = members;
          break;
        }
        case 7 * 8 + delimited:
          value = readBase64(pbf, endOf(pbf, end));
      }
    });
    return value;
  }

  /** Notes the position of a message that is read later. */
  #note(places: number[], end: number): void {
    this.#countValue();
    places.push(this.#pbf.pos, end);
  }

  #countValue(): void {
    if (++this.#values > maxValues) {
      throw new MalformedOtlp(`The request holds more than ${maxValues} values`);
    }
  }
}
