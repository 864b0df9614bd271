import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { isBinary, utf16Of } from "../../../../../supabase/functions/ingest/text_encoding.ts";
import { Failure } from "../failure.ts";

/** A longer line is cut, so that memory stays bounded. No event is this long. */
const maxLineLength = 1_000_000;

/** The encoding of a text that begins with these bytes. */
export function encodingOf(bytes: Uint8Array): string {
  return utf16Of(bytes) ?? "utf-8";
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
    // A program that does not append leaves a hole of zeros when logrotate truncates its file.
    const lines = (this.#pending === "" ? text.replace(/^\0+/, "") : text).split("\n");
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

/** Passes lines on, and fails if they are no text: the messages would be noise. */
export async function* textIn(name: string, lines: AsyncIterable<string[]>) {
  let isFirst = true;
  for await (const some of lines) {
    if (isFirst && isBinary(some.join("\n"))) {
      throw new Failure(`${name} is not text. Of compressed files only gzip is read.`);
    }
    isFirst = false;
    yield some;
  }
}

async function* unpacked(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]();
  const first = await chunks.next();
  if (first.done) return;
  const compressed = first.value[0] === 0x1f && first.value[1] === 0x8b;
  const whole = Readable.from(startingWith(first.value, chunks), { objectMode: true });
  // node:zlib, because rotated files may have several gzip members and a DecompressionStream stops after the first.
  if (!compressed) return yield* whole;
  const gunzip = createGunzip().on("error", () => {});
  whole.on("error", (error) => gunzip.destroy(error));
  yield* whole.pipe(gunzip);
}

async function* startingWith<T>(first: T, rest: AsyncIterator<T>): AsyncGenerator<T> {
  yield first;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}
