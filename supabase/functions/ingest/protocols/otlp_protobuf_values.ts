import { PbfReader } from "pbf";
import { storedNumber } from "../../_shared/numbers.ts";
import { type JsonObject, setMember } from "../json_reader.ts";
import type { Bytes } from "../unpacked_bytes.ts";
import { idFromBytes, MalformedOtlp } from "./otlp_records.ts";
import {
  delimited,
  eachField,
  endOf,
  readBase64,
  readBytes,
  readInt64,
  readText,
} from "./protobuf.ts";

/** The most attributes, items and members of a request. Each takes a few bytes, but far more in memory. */
const maxValues = 500_000;
/** A value that is nested deeper stays bytes. */
const maxDepth = 64;

/** Reads what log records and spans share: ids, attributes and values (opentelemetry/proto/common/v1/common.proto). */
export class OtlpValues {
  readonly pbf: PbfReader;
  #values = 0;

  constructor(bytes: Bytes) {
    this.pbf = new PbfReader(bytes);
  }

  readId(end: number, size: number): string | undefined {
    return idFromBytes(readBytes(this.pbf, endOf(this.pbf, end)), size);
  }

  /** Reads key-values: of a Resource or a KeyValueList. */
  readAttributes(end: number, depth: number, into: JsonObject): void {
    const pbf = this.pbf;
    eachField(pbf, end, (field) => {
      if (field === 1 && pbf.type === delimited) this.readKeyValue(endOf(pbf, end), depth, into);
    });
  }

  readKeyValue(end: number, depth: number, into: JsonObject): void {
    const pbf = this.pbf;
    this.countValue();
    let key = "";
    let value: unknown = null;
    eachField(pbf, end, (field) => {
      if (pbf.type !== delimited) return;
      if (field === 1) key = readText(pbf, end);
      else if (field === 2) value = this.readValue(endOf(pbf, end), depth);
    });
    setMember(into, key, value);
  }

  readValue(end: number, depth: number): unknown {
    const pbf = this.pbf;
    this.countValue();
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
            items.push(this.readValue(endOf(pbf, inner), depth + 1));
          });
          value = items;
          break;
        }
        case 6 * 8 + delimited: {
          const members: JsonObject = {};
          this.readAttributes(endOf(pbf, end), depth + 1, members);
          value = members;
          break;
        }
        case 7 * 8 + delimited:
          value = readBase64(pbf, endOf(pbf, end));
      }
    });
    return value;
  }

  countValue(): void {
    if (++this.#values > maxValues) {
      throw new MalformedOtlp(`The request holds more than ${maxValues} values`);
    }
  }
}
