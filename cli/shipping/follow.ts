import { LineSplitter } from "./lines.ts";

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
          const last = current?.end() ?? [];
          if (last.length > 0) yield last;
          current = next;
          continue;
        }
      }
      yield [];
      await sleep(pollMs, signal);
    }
  } finally {
    current?.close();
  }
}

class Follower {
  readonly #buffer = new Uint8Array(65_536);
  #splitter = new LineSplitter();
  #position = 0;

  static async open(path: string): Promise<Follower | undefined> {
    try {
      const file = await Deno.open(path);
      return new Follower(file, await file.stat());
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return undefined;
      throw error;
    }
  }

  private constructor(readonly file: Deno.FsFile, readonly identity: Deno.FileInfo) {}

  async skipToEnd(): Promise<void> {
    this.#position = await this.file.seek(0, Deno.SeekMode.End);
  }

  /** Reads until there is a complete line; an empty list at the end of the file. */
  async read(): Promise<string[]> {
    for (;;) {
      const count = await this.file.read(this.#buffer);
      if (count === null) return await this.#wasTruncated() ? this.read() : [];
      this.#position += count;
      const lines = this.#splitter.push(this.#buffer.subarray(0, count));
      if (lines.length > 0) return lines;
    }
  }

  end(): string[] {
    this.close();
    return this.#splitter.end();
  }

  close(): void {
    this.file.close();
  }

  async isReplacedAt(path: string): Promise<boolean> {
    try {
      const { dev, ino } = await Deno.stat(path);
      return dev !== this.identity.dev || ino !== this.identity.ino;
    } catch (error) {
      // During a rotation there is no file for a moment.
      if (error instanceof Deno.errors.NotFound) return false;
      throw error;
    }
  }

  async #wasTruncated(): Promise<boolean> {
    if ((await this.file.stat()).size >= this.#position) return false;
    this.#position = await this.file.seek(0, Deno.SeekMode.Start);
    this.#splitter = new LineSplitter();
    return true;
  }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
  });
}
