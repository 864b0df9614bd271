import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";

/** Longer than any event: the rest is dropped, so that memory stays flat. */
const maxLineLength = 1_000_000;

/** Splits bytes that come in pieces into lines. */
export class LineSplitter {
  readonly #decoder = new TextDecoder();
  #pending = "";
  #skipping = false;

  push(chunk: Uint8Array): string[] {
    return this.#split(this.#decoder.decode(chunk, { stream: true }));
  }

  /** The last line, if it has no line break. */
  end(): string[] {
    const lines = this.#split(`${this.#decoder.decode()}\n`);
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

/** The lines of a stream, piece by piece; gzip is decompressed. */
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
  // node:zlib, because rotated files may have several gzip members and a DecompressionStream stops after the first.
  const gunzip = createGunzip();
  whole.on("error", (error) => gunzip.destroy(error));
  yield* compressed ? whole.pipe(gunzip) : whole;
}

async function* startingWith<T>(first: T, rest: AsyncIterator<T>): AsyncGenerator<T> {
  yield first;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}
