/** Thrown for a block that would decompress to more than the limit. */
export class SnappyTooLong extends Error {
  constructor(readonly bytes: number) {
    super(`${bytes} bytes`);
  }
}

/** Thrown for invalid blocks. */
export class MalformedSnappy extends Error {}

/**
 * Decompresses a Snappy block (format_description.txt of google/snappy) to at most `limit` bytes. Our own code, because
 * the JavaScript package loops forever on some blocks.
 */
export function unsnappy(block: Uint8Array<ArrayBuffer>, limit: number): Uint8Array<ArrayBuffer> {
  let at = 0;
  const next = (): number => {
    if (at >= block.length) throw new MalformedSnappy("cut short");
    return block[at++];
  };
  /** Reads a little-endian number. */
  const nextOf = (bytes: number): number => {
    let value = 0;
    for (let n = 0; n < bytes; n++) value += next() * 256 ** n;
    return value;
  };

  let length = 0;
  for (let factor = 1;; factor *= 128) {
    const byte = next();
    length += (byte & 0x7f) * factor;
    if (byte < 0x80) break;
    if (factor > 2 ** 28) throw new MalformedSnappy("no length");
  }
  if (length > limit) throw new SnappyTooLong(length);

  const unpacked = new Uint8Array(length);
  let end = 0;
  while (at < block.length) {
    const tag = next();
    const kind = tag & 3;
    if (kind === 0) {
      const short = tag >>> 2;
      const count = 1 + (short < 60 ? short : nextOf(short - 59));
      if (count > block.length - at || count > length - end) {
        throw new MalformedSnappy("beyond the end");
      }
      unpacked.set(block.subarray(at, at + count), end);
      at += count;
      end += count;
      continue;
    }
    const count = kind === 1 ? 4 + ((tag >>> 2) & 7) : 1 + (tag >>> 2);
    const offset = kind === 1 ? (tag >>> 5) * 256 + next() : nextOf(kind === 2 ? 2 : 4);
    if (offset === 0 || offset > end || count > length - end) {
      throw new MalformedSnappy("beyond the end");
    }
    if (offset >= count) {
      unpacked.copyWithin(end, end - offset, end - offset + count);
      end += count;
    } else {
      for (const stop = end + count; end < stop; end++) unpacked[end] = unpacked[end - offset];
    }
  }
  if (end !== length) throw new MalformedSnappy("too short");
  return unpacked;
}
