import { ZSTDDecoder } from "zstddec";
import type { Bytes, Unpacked } from "./unpacked_bytes.ts";

const decoder = new ZSTDDecoder();

/**
 * Decompresses the frames of a body up to a limit; throws if there are none. Uses the reference implementation in
 * WebAssembly: the hosted runtime has no zstd, and a few kilobytes can keep JavaScript implementations busy for minutes.
 */
export async function unzstd(body: Bytes, limit: number): Promise<Unpacked> {
  const atMost = mostBytes(body);
  await decoder.init();
  // The decoder stops at the limit, and returns nothing on any error.
  const bytes = new Uint8Array(decoder.decode(body, Math.min(atMost, limit) + 1));
  if (bytes.length > 0 || atMost === 0) {
    return bytes.length > limit
      ? { count: bytes.length, bytes: undefined }
      : { count: bytes.length, bytes };
  }
  if (atMost > limit) return { count: atMost, bytes: undefined };
  throw new Error("no zstd");
}

const maxBlockBytes = 128 * 1024;

/** The largest size that the frames (RFC 8878, 3.1) can decompress to, by their headers. */
function mostBytes(body: Bytes): number {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  let most = 0;
  let at = 0;
  while (at < body.length) {
    const magic = view.getUint32(at, true);
    if (magic >>> 4 === 0x184d2a5) {
      at += 8 + view.getUint32(at + 4, true);
      continue;
    }
    if (magic !== 0xfd2fb528) throw new Error("no zstd frame");
    const descriptor = view.getUint8(at + 4);
    const isSingleSegment = (descriptor & 0x20) !== 0;
    const dictionaryBytes = [0, 1, 2, 4][descriptor & 3];
    const sizeBytes = descriptor >>> 6 === 0 ? Number(isSingleSegment) : 1 << (descriptor >>> 6);
    at += 5 + (isSingleSegment ? 0 : 1) + dictionaryBytes + sizeBytes;
    let isLast = false;
    while (!isLast) {
      const header = view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
      isLast = (header & 1) !== 0;
      const type = (header >>> 1) & 3;
      const size = header >>> 3;
      at += 3 + (type === 1 ? 1 : size);
      most += type === 2 ? maxBlockBytes : size;
    }
    // Skips the checksum.
    if ((descriptor & 4) !== 0) at += 4;
  }
  if (at !== body.length) throw new Error("a cut frame");
  return most;
}
