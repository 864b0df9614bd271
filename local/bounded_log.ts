const largest = 5 * 1024 * 1024;

/** A log file with a limit: when it is full it becomes `<path>.1`, and a new file begins. */
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

  /** Writes a process's output until it ends, in whole lines, so that no secret is cut in two. */
  async take(output: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let begun = "";
    for await (const chunk of output) {
      const text = begun + decoder.decode(chunk, { stream: true });
      const end = text.lastIndexOf("\n") + 1;
      begun = text.slice(end);
      this.#say(text.slice(0, end));
    }
    this.#say(begun);
  }

  /** Writes a message of the supervisor. */
  write(text: string): void {
    this.#append(new TextEncoder().encode(withoutSecrets(text)));
  }

  #say(text: string): void {
    this.lastLine = withoutSecrets(text).trim().split("\n").at(-1)?.trim() || this.lastLine;
    this.write(text);
  }

  close(): void {
    this.#open = false;
    this.#file.close();
  }

  #append(chunk: Uint8Array): void {
    if (!this.#open) return;
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

/** Removes keys and tokens, and the query strings of addresses, which nginx and PostgREST log for failing requests. */
const secrets: [RegExp, string][] = [
  [/(?<=\/[^\s"'?]*)\?[^\s"']+/g, "?…"],
  [/\b(ll[tpc]?_[0-9A-Za-z]{8})[0-9A-Za-z]+/g, "$1…"],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, "eyJ…"],
];

function withoutSecrets(text: string): string {
  return secrets.reduce((rest, [secret, shown]) => rest.replace(secret, shown), text);
}
