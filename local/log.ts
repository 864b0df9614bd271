const largest = 5 * 1024 * 1024;

/** A log file with a limit: a full one becomes `<path>.1` and a new one begins. */
export class BoundedLog {
  readonly path: string;
  #file: Deno.FsFile;
  #size: number;
  #open = true;
  /** The last output of the process. */
  lastLine = "";

  static async open(path: string): Promise<BoundedLog> {
    const file = await Deno.open(path, { create: true, append: true, mode: 0o600 });
    return new BoundedLog(path, file, (await file.stat()).size);
  }

  private constructor(path: string, file: Deno.FsFile, size: number) {
    this.path = path;
    this.#file = file;
    this.#size = size;
  }

  /** Writes a message of the supervisor. */
  write(text: string): void {
    this.#append(new TextEncoder().encode(text));
  }

  /** Writes a process's output until it ends. */
  async take(output: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of output) {
      const lines = decoder.decode(chunk).split("\n").filter((line) => line.trim() !== "");
      this.lastLine = lines.at(-1)?.trim() ?? this.lastLine;
      this.#append(chunk);
    }
  }

  close(): void {
    this.#open = false;
    this.#file.close();
  }

  #append(chunk: Uint8Array): void {
    if (!this.#open) return;
    chunk = withoutKeys(chunk);
    if (this.#size + chunk.length > largest) this.#turn();
    this.#file.writeSync(chunk);
    this.#size += chunk.length;
  }

  #turn(): void {
    this.#file.close();
    Deno.renameSync(this.path, `${this.path}.1`);
    this.#file = Deno.openSync(this.path, { create: true, append: true, mode: 0o600 });
    this.#size = 0;
  }
}

const key = /(ll_[0-9A-Za-z]{8})[0-9A-Za-z]{28}/g;

/** nginx writes the address of a failing request, with any key in it. */
function withoutKeys(chunk: Uint8Array): Uint8Array {
  const text = new TextDecoder().decode(chunk);
  return text.includes("ll_") ? new TextEncoder().encode(text.replace(key, "$1…")) : chunk;
}
