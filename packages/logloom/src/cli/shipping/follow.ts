import { Buffer } from "node:buffer";
import type { Stats } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { encodingOf, LineSplitter } from "./split_lines.ts";

/** After a stop, the stream is read until it has been silent for this time, because the program may still be ending. */
const silentMs = 500;

export interface FollowOptions {
  readonly path: string;
  /** Whether to begin with the existing content. */
  readonly fromStart: boolean;
  readonly pollMs: number;
  readonly signal: AbortSignal;
}

/**
 * Yields new lines of a file, also after rotation and truncation. Yields an empty list if there are none yet. Waits for
 * a file that does not exist yet.
 */
export async function* follow(options: FollowOptions): AsyncGenerator<string[]> {
  const { path, pollMs, signal } = options;
  let current = await Follower.open(path);
  if (current !== undefined && !options.fromStart) await current.skipToEnd();
  try {
    while (!signal.aborted) {
      const lines = await current?.read() ?? [];
      if (lines.length > 0) {
        yield lines;
        continue;
      }
      const replaced = await current?.isReplacedAt(path) ?? true;
      if (replaced) {
        // Lines that were written between the last read and the rotation are read first.
        for (let rest = await current?.read() ?? []; rest.length > 0;) {
          yield rest;
          rest = await current?.read() ?? [];
        }
        const next = await Follower.open(path);
        if (next !== undefined) {
          const last = await current?.end() ?? [];
          if (last.length > 0) yield last;
          current = next;
          continue;
        }
      }
      yield [];
      await sleep(pollMs, signal);
    }
  } finally {
    await current?.close();
  }
}

/**
 * Yields the lines of an endless stream. Yields an empty list from time to time, so that the lines so far are sent.
 * After a stop it reads until the stream is silent, because these lines cannot be read again.
 */
export async function* readLive(
  lines: AsyncIterator<string[]>,
  everyMs: number,
  signal: AbortSignal,
): AsyncGenerator<string[]> {
  const end = new AbortController();
  const woken = new AbortController();
  const wake = () => woken.abort();
  for (const one of [signal, end.signal]) one.addEventListener("abort", wake);
  if (signal.aborted) wake();
  const stopped = woken.signal;
  let isSilent = false;
  let pause = sleep(everyMs, stopped);
  let next = lines.next();
  try {
    for (;;) {
      const read = await Promise.race([next, pause]);
      if (read?.done) return;
      yield read?.value ?? [];
      if (read) {
        isSilent = false;
        next = lines.next();
      } else if (isSilent) return;
      else {
        isSilent = signal.aborted;
        pause = isSilent ? sleep(silentMs, end.signal) : sleep(everyMs, stopped);
      }
    }
  } finally {
    end.abort();
    signal.removeEventListener("abort", wake);
  }
}

/** This many bytes before the position are compared, to notice if the file was replaced. */
const tailBytes = 1024;

class Follower {
  readonly #buffer = new Uint8Array(65_536);
  #splitter = new LineSplitter();
  #position = 0;
  /** The bytes before the position. */
  #tail = new Uint8Array();

  static async open(path: string): Promise<Follower | undefined> {
    try {
      const file = await open(path);
      return new Follower(file, await file.stat());
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  private constructor(readonly file: FileHandle, readonly identity: Stats) {}

  async skipToEnd(): Promise<void> {
    const encoding = encodingOf(await this.#bytesAt(0, 4));
    this.#splitter = new LineSplitter(encoding);
    const { size } = await this.file.stat();
    const start = Math.max(0, size - this.#buffer.length);
    const last = Buffer.from(await this.#bytesAt(start, size - start));
    // A line that is still being written is read as a whole later.
    const lineBreak = last.lastIndexOf("\n", encoding === "utf-16le" ? "utf-16le" : "utf-8");
    const width = encoding === "utf-16le" ? 2 : 1;
    const end = lineBreak === -1 ? (start === 0 ? 0 : last.length) : lineBreak + width;
    this.#position = start + end;
    this.#tail = last.subarray(Math.max(0, end - tailBytes), end);
  }

  /** Reads until there is a complete line; an empty list at the end of the file. */
  async read(): Promise<string[]> {
    for (;;) {
      // Reads the known bytes before the position and the new bytes in one step, so that the file cannot change in between.
      const known = this.#tail.length;
      const bytes = await this.#bytesAt(this.#position - known, this.#buffer.length);
      if (!isSame(bytes.subarray(0, known), this.#tail)) {
        const last = this.#beginAgain();
        if (last.length > 0) return last;
        continue;
      }
      if (bytes.length === known) return [];
      this.#position += bytes.length - known;
      this.#tail = bytes.slice(-tailBytes);
      const lines = this.#splitter.push(bytes.subarray(known));
      if (lines.length > 0) return lines;
    }
  }

  /** Begins again after a truncation. The file may be longer than before by now. */
  #beginAgain(): string[] {
    const last = this.#splitter.end();
    this.#splitter = new LineSplitter();
    this.#position = 0;
    this.#tail = new Uint8Array();
    return last;
  }

  async #bytesAt(position: number, length: number): Promise<Uint8Array> {
    const { bytesRead } = await this.file.read(this.#buffer, 0, length, position);
    return this.#buffer.subarray(0, bytesRead);
  }

  async end(): Promise<string[]> {
    await this.close();
    return this.#splitter.end();
  }

  close(): Promise<void> {
    return this.file.close();
  }

  async isReplacedAt(path: string): Promise<boolean> {
    try {
      const { dev, ino } = await stat(path);
      return dev !== this.identity.dev || ino !== this.identity.ino;
    } catch (error) {
      // During a rotation there is no file for a moment.
      if (isMissing(error)) return false;
      throw error;
    }
  }
}

function isSame(bytes: Uint8Array, others: Uint8Array): boolean {
  return bytes.length === others.length && bytes.every((byte, at) => byte === others[at]);
}

export function isMissing(error: unknown): boolean {
  return (error as { code?: string }).code === "ENOENT";
}

/** Waits, or returns early if the signal is aborted. */
function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
  });
}
