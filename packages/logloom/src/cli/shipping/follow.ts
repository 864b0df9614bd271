import type { Stats } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { LineSplitter } from "./lines.ts";

/** A stop waits until the program has said nothing for so long: it may still be ending. */
const silentMs = 500;

export interface FollowOptions {
  readonly path: string;
  /** Whether to begin with the existing content. */
  readonly fromStart: boolean;
  readonly pollMs: number;
  readonly signal: AbortSignal;
}

/**
 * New lines of a file, through rotation and truncation; an empty list if there is nothing more for now. Waits for a
 * file that does not exist yet.
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
        // Lines written between the last read and the rotation are still to be read.
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
 * The lines of a stream that may go on for long: an empty list every so often, since what was read is to be sent. After
 * a stop it ends once nothing more comes: nobody can read these lines again.
 */
export async function* readLive(
  lines: AsyncIterator<string[]>,
  everyMs: number,
  signal: AbortSignal,
): AsyncGenerator<string[]> {
  const end = new AbortController();
  const stopped = AbortSignal.any([signal, end.signal]);
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
  }
}

class Follower {
  readonly #buffer = new Uint8Array(65_536);
  #splitter = new LineSplitter();
  #position = 0;

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
    this.#position = (await this.file.stat()).size;
  }

  /** Reads until there is a complete line; an empty list at the end of the file. */
  async read(): Promise<string[]> {
    for (;;) {
      const { bytesRead } = await this.file.read(
        this.#buffer,
        0,
        this.#buffer.length,
        this.#position,
      );
      if (bytesRead === 0) return await this.#wasTruncated() ? this.read() : [];
      this.#position += bytesRead;
      const lines = this.#splitter.push(this.#buffer.subarray(0, bytesRead));
      if (lines.length > 0) return lines;
    }
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

  async #wasTruncated(): Promise<boolean> {
    if ((await this.file.stat()).size >= this.#position) return false;
    this.#position = 0;
    this.#splitter = new LineSplitter();
    return true;
  }
}

export function isMissing(error: unknown): boolean {
  return (error as { code?: string }).code === "ENOENT";
}

/** Ends early at the signal. */
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
