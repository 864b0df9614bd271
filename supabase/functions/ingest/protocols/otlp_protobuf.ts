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
  type OtlpRecord,
  type OtlpResource,
  type OtlpScope,
  resourceOf,
} from "./otlp_records.ts";
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
export function readOtlpProtobuf(bytes: Bytes, events: EventCollector): void {
  try {
    new OtlpReader(bytes, events).readRequest();
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
  readonly #events: EventCollector;
  #values = 0;

  constructor(bytes: Bytes, events: EventCollector) {
    this.#pbf = new PbfReader(bytes);
    this.#events = events;
  }

  readRequest(): void {
    const pbf = this.#pbf;
    eachField(pbf, pbf.length, (field) => {
      if (field === 1 && pbf.type === delimited) this.#readResourceLogs(endOf(pbf, pbf.length));
    });
  }

  #readResourceLogs(end: number): void {
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
      this.#readScopeLogs(scopes[at + 1], told, schemaUrl);
    }
    pbf.pos = after;
  }

  #readScopeLogs(end: number, resource: OtlpResource, schemaUrl: string | undefined): void {
    const pbf = this.#pbf;
    const records: number[] = [];
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
        this.#note(records, inner);
      }
      pbf.pos = inner;
    });
    const after = pbf.pos;
    const origin = originOf(resource, scope);
    for (let at = 0; at < records.length; at += 2) {
      pbf.pos = records[at];
      addRecord(this.#readRecord(records[at + 1]), origin, this.#events);
    }
    pbf.pos = after;
  }

  #readRecord(end: number): OtlpRecord {
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
          record.traceId = idFromBytes(readBytes(pbf, endOf(pbf, end)), 16);
          break;
        case 10 * 8 + delimited:
          record.spanId = idFromBytes(readBytes(pbf, endOf(pbf, end)), 8);
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
