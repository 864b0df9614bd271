import { Readable } from "node:stream";
import { createGunzip, createInflate, createInflateRaw } from "node:zlib";
import { failure, type Result, success } from "../_shared/errors.ts";
import { takeBody } from "../_shared/request_body.ts";
import type { Bytes, Unpacked } from "./unpacked_bytes.ts";
import { unzstd } from "./zstd.ts";

export interface BodyLimits {
  /** The limit of a compressed body, as sent. */
  readonly sentBytes: number;
  /** The limit of the decompressed content. */
  readonly bytes: number;
  /** Whether the protocol decompresses Snappy itself. */
  readonly takesSnappy?: true;
}

/** A body beyond its limit is decompressed up to this size, but not kept, so that the answer can name its size. */
const maxUnpackedBytes = 8_192_000;

/** The decompressed body, or its fault, which is only told to authenticated callers. */
export type Body = { readonly bytes: Bytes } | {
  readonly problem: string;
  readonly status: 400 | 415;
};

/** The failures are 408 and 413. */
export async function readBody(
  request: Request,
  limits: BodyLimits,
  timeoutMs: number,
): Promise<Result<Body>> {
  let sent: Collected;
  try {
    sent = await collect(request.body, limits.bytes, timeoutMs);
  } catch {
    return success({ problem: "Request body ended early", status: 400 });
  }
  if (sent.isLate) {
    return failure(408, `Request body took longer than ${timeoutMs / 1000} seconds`);
  }
  const declared = Number(request.headers.get("Content-Length"));
  if (sent.bytes === undefined) return tooLarge(Math.max(sent.count, declared || 0), limits.bytes);

  const packing = packingOf(request.headers, sent.bytes, limits.takesSnappy ?? false);
  if (packing === undefined) {
    return success({
      problem: "Unsupported Content-Encoding: expected gzip, deflate, zstd or none",
      status: 415,
    });
  }
  const { encoding, fault } = packing;
  try {
    if (encoding !== undefined) {
      const isTooLarge = sent.count > limits.sentBytes;
      if (isTooLarge && fault !== undefined) return tooLarge(sent.count, limits.sentBytes);
      const unpacked = await unpack(encoding, sent.bytes, limits.bytes);
      if (isTooLarge) return tooLarge(sent.count, limits.sentBytes);
      if (unpacked.bytes === undefined) return tooLarge(unpacked.count, limits.bytes);
      return success(
        isPacked(unpacked.bytes, request.headers)
          ? { problem: "Request body is compressed twice", status: 415 }
          : { bytes: unpacked.bytes },
      );
    }
  } catch {
    // The fault below describes it.
  }
  return success(fault === undefined ? { bytes: sent.bytes } : { problem: fault, status: 400 });
}

function tooLarge(bytes: number, limit: number): Result<never> {
  return failure(413, `Request body too large: ${bytes} bytes (max ${limit})`);
}

interface Collected extends Unpacked {
  readonly isLate: boolean;
}

/** Reads a stream. Bytes beyond the limit are counted but not kept, so that the answer can name the size. */
async function collect(
  stream: ReadableStream<Bytes> | null,
  limit: number,
  timeoutMs: number,
): Promise<Collected> {
  const pile = new Pile(limit);
  const { isLate } = await takeBody(stream, timeoutMs, (chunk) => pile.add(chunk));
  return { ...pile.result(), isLate };
}

/** Keeps chunks within the limit. Chunks beyond it are only counted. */
class Pile {
  count = 0;
  #chunks: Bytes[] = [];
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(chunk: Bytes): void {
    this.count += chunk.length;
    if (this.count <= this.#limit) this.#chunks.push(chunk);
    else this.#chunks = [];
  }

  result(): Unpacked {
    const { count } = this;
    if (count > this.#limit) return { count, bytes: undefined };
    if (this.#chunks.length === 1) return { count, bytes: this.#chunks[0] };
    const bytes = new Uint8Array(count);
    let at = 0;
    for (const chunk of this.#chunks) {
      bytes.set(chunk, at);
      at += chunk.length;
    }
    return { count, bytes };
  }
}

type Encoding = "gzip" | "zlib" | "deflate" | "zstd";

interface Packing {
  readonly encoding: Encoding | undefined;
  /** Why a body that cannot be decompressed is refused; undefined if it is used as it is. */
  readonly fault: string | undefined;
}

const known = new Set(["gzip", "deflate", "zstd", "identity", "none", ""]);

/**
 * Finds the encoding by the first bytes, because senders announce a wrong encoding, announce one without using it, or
 * use one without announcing it. The first bytes do not show Snappy, so its protocol decompresses it. Undefined if the
 * announced name is unknown.
 */
function packingOf(headers: Headers, body: Bytes, takesSnappy: boolean): Packing | undefined {
  const names = (headers.get("Content-Encoding") ?? "").split(",")
    .map((name) => name.trim().toLowerCase().replace("x-gzip", "gzip"));
  if (!names.every((name) => known.has(name) || (takesSnappy && name === "snappy"))) {
    return undefined;
  }
  const faultOf = (name: string) => `Request body is not valid ${name}`;
  if (isGzip(body)) return { encoding: "gzip", fault: faultOf("gzip") };
  if (isZstd(body)) return { encoding: "zstd", fault: faultOf("zstd") };
  const named = ["deflate", "zstd", "gzip"].find((name) => names.includes(name));
  const isPlain = named === undefined || isText(body);
  const mayBePlain = isPlain || /protobuf|msgpack/.test(headers.get("Content-Type") ?? "");
  const fault = mayBePlain ? undefined : faultOf(named);
  // Text and short Snappy blocks may begin like zlib; the checksum decides.
  if (hasZlibHeader(body)) return { encoding: "zlib", fault };
  // Some clients omit the zlib header, which the standard requires.
  return { encoding: !isPlain && named === "deflate" ? "deflate" : undefined, fault };
}

function isGzip([first, second]: Bytes): boolean {
  return first === 0x1f && second === 0x8b;
}

function isZstd([a, b, c, d]: Bytes): boolean {
  return a === 0x28 && b === 0xb5 && c === 0x2f && d === 0xfd;
}

/** Whether a decompressed body is still compressed. A text may begin like zlib, so several encodings must be announced. */
function isPacked(body: Bytes, headers: Headers): boolean {
  const isAnnounced = headers.get("Content-Encoding")?.includes(",") ?? false;
  return isGzip(body) || isZstd(body) || (isAnnounced && hasZlibHeader(body) && !isText(body));
}

function hasZlibHeader(body: Bytes): boolean {
  const usesDeflate = (body[0] & 0x0f) === 8 && body[0] >> 4 <= 7;
  const needsDictionary = (body[1] & 0x20) !== 0;
  return usesDeflate && !needsDictionary && (body[0] * 256 + body[1]) % 31 === 0;
}

/** The bytes needed to tell text from compressed data. */
const tellingBytes = 512;

function isText(body: Bytes): boolean {
  const first = body.subarray(0, tellingBytes);
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(first, { stream: true });
  } catch {
    return false;
  }
  // Text has no control characters except white space and the escape of colours.
  return first.every((byte) => byte >= 0x20 || byte === 0x1b || (byte >= 0x09 && byte <= 0x0d));
}

async function unpack(encoding: Encoding, body: Bytes, limit: number): Promise<Unpacked> {
  if (encoding === "zstd") return unzstd(body, limit);
  const pile = new Pile(limit);
  for await (const chunk of inflate(decompressorFor(encoding), pieces(body))) {
    pile.add(chunk);
    if (pile.count > Math.max(limit, maxUnpackedBytes)) break;
  }
  return pile.result();
}

/** A piece inflates to at most 4 MB, so stopping early wastes no more than that. */
const pieceBytes = 4096;

function* pieces(bytes: Bytes): Iterable<Bytes> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

/**
 * Inflates piece by piece, each after the previous one was consumed. If a hosted function passes everything at once to
 * node:zlib or DecompressionStream, a whole bomb is inflated even if the reader stops.
 */
export function inflate(decompressor: Decompressor, from: Iterable<Bytes>): AsyncIterable<Bytes> {
  return Readable.from(from, { highWaterMark: 1 }).pipe(decompressor);
}

type Decompressor = ReturnType<typeof createGunzip>;

function decompressorFor(encoding: Encoding): Decompressor {
  const options = { chunkSize: 65_536 };
  if (encoding === "zlib") return createInflate(options);
  return encoding === "deflate" ? createInflateRaw(options) : createGunzip(options);
}
