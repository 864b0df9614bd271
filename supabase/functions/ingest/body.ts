import { createGunzip, createInflate, createInflateRaw } from "node:zlib";
import { failure, type Result, success } from "../_shared/errors.ts";

type Bytes = Uint8Array<ArrayBuffer>;

const maxBodyBytes = 512_000;

/**
 * A body beyond the limit is still counted up to here, without keeping it: the answer can name its
 * size, and reaches a client that sends everything before it listens.
 */
const maxCountedBytes = 16 * maxBodyBytes;

/** The body, decompressed, or what is wrong with it, which is for the authenticated alone. */
export type Body = { readonly bytes: Bytes } | { readonly problem: string };

/** The one failure is 413. */
export async function readBody(request: Request): Promise<Result<Body>> {
  let sent: Collected;
  try {
    sent = await collect(request.body);
  } catch {
    return success({ problem: "Request body ended early" });
  }
  const declared = Number(request.headers.get("Content-Length"));
  if (sent.bytes === undefined) return tooLarge(Math.max(sent.count, declared || 0));

  const encoding = (request.headers.get("Content-Encoding") ?? "").trim().toLowerCase();
  if (encoding === "" || encoding === "identity") return success({ bytes: sent.bytes });
  const decompressor = decompressorFor(encoding, sent.bytes);
  if (decompressor === undefined) {
    return success({ problem: "Unsupported Content-Encoding: expected gzip, deflate or none" });
  }
  try {
    decompressor.end(sent.bytes);
    const { count, bytes } = await collect(decompressor);
    return bytes === undefined ? tooLarge(count) : success({ bytes });
  } catch {
    return success({ problem: `Request body is not valid ${encoding}` });
  }
}

/** Takes the body off the connection, so that whoever sends it hears the answer. */
export async function discardBody(request: Request): Promise<void> {
  try {
    await collect(request.body);
  } catch {
    // The client is gone, and with it whoever would want to know.
  }
}

function tooLarge(bytes: number): Result<never> {
  return failure(413, `Request body too large: ${bytes} bytes (max ${maxBodyBytes})`);
}

interface Collected {
  readonly count: number;
  /** Undefined when there were more than the limit. */
  readonly bytes: Bytes | undefined;
}

async function collect(stream: AsyncIterable<Bytes> | null): Promise<Collected> {
  const chunks: Bytes[] = [];
  let count = 0;
  for await (const chunk of stream ?? []) {
    count += chunk.length;
    if (count <= maxBodyBytes) {
      chunks.push(chunk);
    } else {
      chunks.length = 0;
      if (count > maxCountedBytes) break;
    }
  }
  if (count > maxBodyBytes) return { count, bytes: undefined };
  if (chunks.length === 1) return { count, bytes: chunks[0] };
  const bytes = new Uint8Array(count);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return { count, bytes };
}

/** node:zlib, since a DecompressionStream inflates all that it is given at once, bombs too. */
function decompressorFor(encoding: string, body: Bytes) {
  const options = { chunkSize: 65_536 };
  if (encoding === "gzip" || encoding === "x-gzip") return createGunzip(options);
  if (encoding !== "deflate") return undefined;
  // Some clients leave out the zlib header, which the standard asks for.
  const hasHeader = (body[0] & 0x0f) === 8 && (body[0] * 256 + body[1]) % 31 === 0;
  return hasHeader ? createInflate(options) : createInflateRaw(options);
}
