import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";

/** A longer line is cut, so that memory stays bounded. No event is this long. */
const maxLineLength = 1_000_000;

/** Returns the encoding of a text by its first two bytes. PowerShell writes UTF-16 with a byte order mark. */
export function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
}

/** Splits bytes that arrive in pieces into lines. */
export class LineSplitter {
  #decoder: TextDecoder | undefined;
  /** The first byte, until the second one tells the encoding. */
  #first = new Uint8Array();
  #pending = "";
  #skipping = false;

  /** Without an encoding the first bytes decide. */
  constructor(encoding?: string) {
    if (encoding !== undefined) this.#decoder = new TextDecoder(encoding);
  }

  push(chunk: Uint8Array): string[] {
    if (this.#decoder === undefined) {
      const begun = concatenated(this.#first, chunk);
      if (begun.length < 2) {
        this.#first = begun;
        return [];
      }
      this.#decoder = new TextDecoder(encodingOf(begun));
      chunk = begun;
    }
    return this.#split(this.#decoder.decode(chunk, { stream: true }));
  }

  /** Returns the last line if it has no line break. */
  end(): string[] {
    const decoder = this.#decoder ?? new TextDecoder();
    const rest = decoder.decode(this.#decoder === undefined ? this.#first : undefined);
    const lines = this.#split(`${rest}\n`);
    return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
  }

  #split(text: string): string[] {
    const lines = text.split("\n");
    if (this.#skipping) lines[0] = "";
    lines[0] = this.#pending + lines[0];
    this.#pending = lines.pop() ?? "";
    if (lines.length > 0) this.#skipping = false;
    if (this.#pending.length > maxLineLength) {
      this.#pending = this.#pending.slice(0, maxLineLength);
      this.#skipping = true;
    }
    return lines.map((line) => line.endsWith("\r") ? line.slice(0, -1) : line);
  }
}

function concatenated(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

/** Yields the lines of a stream. Decompresses gzip. */
export async function* readLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  const splitter = new LineSplitter();
  for await (const chunk of unpacked(source)) {
    const lines = splitter.push(chunk);
    if (lines.length > 0) yield lines;
  }
  const last = splitter.end();
  if (last.length > 0) yield last;
}

async function* unpacked(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]();
  const first = await chunks.next();
  if (first.done) return;
  const compressed = first.value[0] === 0x1f && first.value[1] === 0x8b;
  const whole = Readable.from(startingWith(first.value, chunks), { objectMode: true });
  // Uses node:zlib, because rotated files may have several gzip members and a DecompressionStream stops after the
  // first.
  const gunzip = createGunzip();
  whole.on("error", (error) => gunzip.destroy(error));
  yield* compressed ? whole.pipe(gunzip) : whole;
}

async function* startingWith<T>(first: T, rest: AsyncIterator<T>): AsyncGenerator<T> {
  yield first;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}
