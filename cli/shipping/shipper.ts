import { type Batch, Batcher, type Origin } from "./batches.ts";
import { type Defaults, eventOf, hasOwnTime } from "./events.ts";
import type { Send } from "./sender.ts";

/** A file or a stream, by lines; an empty list means nothing more for now. */
export interface Source {
  readonly name: string;
  readonly lines: AsyncIterable<readonly string[]>;
  /** Of a file that is sent from its beginning to its end. */
  readonly isFile?: boolean;
}

export interface Totals {
  events: number;
  bytes: number;
  batches: number;
  accepted: number;
  rejected: number;
  /** The first few, with their places. */
  readonly reasons: string[];
}

export interface ShipperOptions {
  readonly send: Send;
  readonly parallel: number;
  readonly defaults: Defaults;
  readonly isSkipped: (line: string) => boolean;
  readonly onProgress: (totals: Totals) => void;
}

const maxReasons = 10;

/** Sends lines as events, a few batches at a time, and counts the outcomes. */
export class Shipper {
  readonly totals: Totals = {
    events: 0,
    bytes: 0,
    batches: 0,
    accepted: 0,
    rejected: 0,
    reasons: [],
  };
  readonly #options: ShipperOptions;
  readonly #batcher = new Batcher();
  readonly #underWay = new Set<Promise<void>>();
  #failure: unknown;

  constructor(options: ShipperOptions) {
    this.#options = options;
  }

  /** Reads no faster than batches are sent. */
  async ship({ name, lines, isFile = false }: Source): Promise<void> {
    let line = 0;
    for await (const texts of lines) {
      for (const text of texts) await this.#add(text, { source: name, line: ++line }, isFile);
      if (texts.length === 0) await this.#flush();
    }
    const last = isFile ? this.#batcher.takeRepeatable() : undefined;
    if (last !== undefined) await this.#submit(last);
  }

  /** Sends the rest and waits for every answer; fails if anything could not be sent. */
  async finish(): Promise<void> {
    await this.#flush();
    await Promise.all(this.#underWay);
    this.#throwFailure();
  }

  async #add(text: string, origin: Origin, isFile: boolean): Promise<void> {
    if (this.#options.isSkipped(text)) return;
    const event = eventOf(text, this.#options.defaults);
    if (event === undefined) return;
    if (!Batcher.fits(event)) {
      this.#reject(origin, "the line is longer than an event may be");
      this.totals.rejected++;
      return;
    }
    const full = this.#batcher.add(event, origin, isFile && hasOwnTime(event));
    if (full !== undefined) await this.#submit(full);
  }

  async #flush(): Promise<void> {
    const rest = this.#batcher.take();
    if (rest !== undefined) await this.#submit(rest);
  }

  async #submit(batch: Batch): Promise<void> {
    while (this.#underWay.size >= this.#options.parallel) await Promise.race(this.#underWay);
    this.#throwFailure();
    const sending: Promise<void> = this.#send(batch)
      .catch((error) => {
        this.#failure ??= error;
      })
      .finally(() => this.#underWay.delete(sending));
    this.#underWay.add(sending);
  }

  async #send(batch: Batch): Promise<void> {
    const { accepted, rejected, errors } = await this.#options.send(batch);
    this.totals.events += batch.events.length;
    this.totals.bytes += batch.bytes;
    this.totals.batches++;
    this.totals.accepted += accepted;
    this.totals.rejected += rejected;
    for (const { index, code, message } of errors) {
      const origin = batch.origins[index];
      if (origin !== undefined) this.#reject(origin, `${code}: ${message}`);
    }
    this.#options.onProgress(this.totals);
  }

  #reject({ source, line }: Origin, reason: string): void {
    const { reasons } = this.totals;
    if (reasons.length < maxReasons) reasons.push(`${source}, line ${line}: ${reason}`);
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }
}
