import { Buffer } from "node:buffer";
import type { PbfReader } from "pbf";
import { markNumber } from "../../_shared/numbers.ts";

/** Thrown if bytes are not in the wire format, or have wrong lengths. */
export class MalformedProtobuf extends Error {}

/** The wire type of texts, bytes and messages. */
export const delimited = 2;

/** Reads a length and returns the end of its bytes, which must not be beyond `within`. */
export function endOf(pbf: PbfReader, within: number): number {
  const length = pbf.readVarint();
  const end = pbf.pos + length;
  if (end > within) throw new MalformedProtobuf();
  return end;
}

/** Visits the fields of a message that ends at `end`. Fields that `visit` does not read are skipped. */
export function eachField(pbf: PbfReader, end: number, visit: (field: number) => void): void {
  for (let field = pbf.nextField(end); field !== 0; field = pbf.nextField(end)) {
    visit(field);
    if (pbf.pos > end) throw new MalformedProtobuf();
  }
  if (pbf.pos !== end) throw new MalformedProtobuf();
}

export function readText(pbf: PbfReader, within: number): string {
  const text = pbf.readString();
  if (pbf.pos > within) throw new MalformedProtobuf();
  return text;
}

/** An int64. If a double cannot hold it, it becomes a marked number with all its digits. */
export function readInt64(pbf: PbfReader): number | string {
  const start = pbf.pos;
  const value = pbf.readVarint(true);
  if (Number.isSafeInteger(value)) return value;
  let exact = 0n;
  for (let at = start; at < pbf.pos; at++) {
    exact |= BigInt(pbf.buf[at] & 0x7f) << BigInt(7 * (at - start));
  }
  return markNumber(BigInt.asIntN(64, exact).toString());
}

/** A fixed64 of nanoseconds, as text; undefined for 0. */
export function readNanos(pbf: PbfReader): string | undefined {
  const low = pbf.readFixed32();
  const high = pbf.readFixed32();
  if (low === 0 && high === 0) return undefined;
  return ((BigInt(high) << 32n) | BigInt(low)).toString();
}

export function readBase64(pbf: PbfReader, end: number): string {
  return readBytes(pbf, end).toString("base64");
}

export function readBytes(pbf: PbfReader, end: number): Buffer {
  const { buf, pos } = pbf;
  pbf.pos = end;
  return Buffer.from(buf.buffer, buf.byteOffset + pos, end - pos);
}

/** Whether an error is the fault of the bytes: ours, or one from pbf. */
export function isMalformed(error: unknown): boolean {
  return error instanceof MalformedProtobuf || error instanceof RangeError ||
    (error instanceof Error && error.constructor === Error);
}
