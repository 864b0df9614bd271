import { Buffer } from "node:buffer";
import type { Bytes } from "../unpacked_bytes.ts";
import { type JsonObject, setMember } from "../json_reader.ts";
import { markNumber, storedNumber } from "../../_shared/numbers.ts";

/** Thrown if bytes are not MessagePack, or hold more values than any sender sends. */
export class MalformedMsgpack extends Error {}

const maxValues = 500_000;
const maxDepth = 500;

/**
 * The value of a MessagePack body (https://github.com/msgpack/msgpack/blob/master/spec.md) as JSON: bytes as base64,
 * times as ISO 8601. A length counts only if its bytes exist: packages that allocate by the length can be made to use
 * any amount of memory.
 */
export function unmsgpack(bytes: Bytes): unknown {
  const reader = new Reader(bytes);
  const value = reader.read(0);
  if (!reader.isAtEnd) throw new MalformedMsgpack();
  return value;
}

class Reader {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  #at = 0;
  #values = 0;

  constructor(bytes: Bytes) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  read(depth: number): unknown {
    if (++this.#values > maxValues || depth > maxDepth) throw new MalformedMsgpack();
    const type = this.#unsigned(1);
    if (type < 0x80) return type;
    if (type < 0x90) return this.#map(type & 0x0f, depth);
    if (type < 0xa0) return this.#array(type & 0x0f, depth);
    if (type < 0xc0) return this.#text(type & 0x1f);
    if (type >= 0xe0) return type - 0x100;
    switch (type) {
      case 0xc0:
        return null;
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return this.#take(this.#unsigned(1 << (type - 0xc4))).toString("base64");
      case 0xc7:
      case 0xc8:
      case 0xc9:
        return this.#extension(this.#unsigned(1 << (type - 0xc7)));
      case 0xca:
        return storedNumber(this.#view.getFloat32(this.#skip(4)));
      case 0xcb:
        return storedNumber(this.#view.getFloat64(this.#skip(8)));
      case 0xcc:
      case 0xcd:
      case 0xce:
        return this.#unsigned(1 << (type - 0xcc));
      case 0xcf:
        return integer(this.#view.getBigUint64(this.#skip(8)));
      case 0xd0:
        return this.#view.getInt8(this.#skip(1));
      case 0xd1:
        return this.#view.getInt16(this.#skip(2));
      case 0xd2:
        return this.#view.getInt32(this.#skip(4));
      case 0xd3:
        return integer(this.#view.getBigInt64(this.#skip(8)));
      case 0xd4:
      case 0xd5:
      case 0xd6:
      case 0xd7:
      case 0xd8:
        return this.#extension(1 << (type - 0xd4));
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.#text(this.#unsigned(1 << (type - 0xd9)));
      case 0xdc:
      case 0xdd:
        return this.#array(this.#unsigned(type === 0xdc ? 2 : 4), depth);
      case 0xde:
      case 0xdf:
        return this.#map(this.#unsigned(type === 0xde ? 2 : 4), depth);
      default:
        throw new MalformedMsgpack();
    }
  }

  #array(length: number, depth: number): unknown[] {
    const items: unknown[] = [];
    for (let n = 0; n < length; n++) items.push(this.read(depth + 1));
    return items;
  }

  #map(length: number, depth: number): JsonObject {
    const members: JsonObject = {};
    for (let n = 0; n < length; n++) {
      const key = this.read(depth + 1);
      if (typeof key === "object" && key !== null) throw new MalformedMsgpack();
      setMember(members, String(key), this.read(depth + 1));
    }
    return members;
  }

  #text(length: number): string {
    return this.#take(length).toString("utf8");
  }

  /** Extension -1 is a time. Others stay bytes. */
  #extension(length: number): unknown {
    const type = this.#view.getInt8(this.#skip(1));
    if (type !== -1) return this.#take(length).toString("base64");
    const at = this.#skip(length);
    const unsigned = (from: number) => this.#view.getUint32(at + from);
    switch (length) {
      case 4:
        return isoOf(unsigned(0), 0);
      case 8: {
        const high = unsigned(0);
        return isoOf((high & 3) * 2 ** 32 + unsigned(4), high >>> 2);
      }
      case 12:
        return isoOf(this.#view.getBigInt64(at + 4), unsigned(0));
      default:
        throw new MalformedMsgpack();
    }
  }

  #unsigned(bytes: number): number {
    const at = this.#skip(bytes);
    if (bytes === 1) return this.#view.getUint8(at);
    return bytes === 2 ? this.#view.getUint16(at) : this.#view.getUint32(at);
  }

  #take(length: number): Buffer {
    const at = this.#skip(length);
    return this.#bytes.subarray(at, at + length);
  }

  /** Skips bytes that must exist, and returns their position. */
  #skip(length: number): number {
    const at = this.#at;
    if (length > this.#bytes.length - at) throw new MalformedMsgpack();
    this.#at += length;
    return at;
  }
}

function integer(value: bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : markNumber(value.toString());
}

function isoOf(seconds: number | bigint, nanos: number): string {
  const fraction = nanos === 0 ? "000000000" : String(nanos).padStart(9, "0");
  if (!(seconds >= 0 && seconds < 253_402_300_800)) {
    const date = new Date(Number(seconds) * 1000);
    if (Number.isNaN(date.getTime())) return `${seconds}.${fraction}`;
    return `${date.toISOString().slice(0, -5)}.${fraction}Z`;
  }
  const whole = Number(seconds);
  const day = Math.floor(whole / 86_400);
  const rest = whole - day * 86_400;
  const time = `${two(Math.floor(rest / 3600))}:${two(Math.floor(rest / 60) % 60)}:${
    two(rest % 60)
  }`;
  return `${dateOf(day)}T${time}.${fraction}Z`;
}

const pairs = Array.from({ length: 100 }, (_, n) => String(n).padStart(2, "0"));

function two(number: number): string {
  return pairs[number];
}

/** The date of a day since 1970, without a Date object for each. Years begin in March here, so leap days come last. */
function dateOf(day: number): string {
  const since = day + 719_468;
  const era = Math.floor(since / 146_097);
  const ofEra = since - era * 146_097;
  const year = Math.floor(
    (ofEra - Math.floor(ofEra / 1460) + Math.floor(ofEra / 36_524) -
      Math.floor(ofEra / 146_096)) /
      365,
  );
  const ofYear = ofEra -
    (365 * year + Math.floor(year / 4) - Math.floor(year / 100));
  const month = Math.floor((5 * ofYear + 2) / 153);
  const date = ofYear - Math.floor((153 * month + 2) / 5) + 1;
  const isNext = month >= 10;
  return `${year + era * 400 + Number(isNext)}-${two(isNext ? month - 9 : month + 3)}-${two(date)}`;
}
