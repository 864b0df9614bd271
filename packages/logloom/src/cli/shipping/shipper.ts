import { type Batch, Batcher, type Origin } from "./batches.ts";
import { type Defaults, eventsOf, type LineEvent } from "./events.ts";
import type { KnownFile } from "./known_files.ts";
import type { Send } from "./sender.ts";

/** The lines of a file or a stream. An empty list means that there are none at the moment. */
export interface Source {
  readonly name: string;
  readonly lines: AsyncIterable<readonly string[]>;
  /** Set for a file that is sent from beginning to end. */
  readonly file?: KnownFile;
}

export interface Totals {
  events: number;
  bytes: number;
  batches: number;
  accepted: number;
  rejected: number;
  /** The first reasons, with their places. */
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

  /** Sends the lines of a source. Reads no faster than it sends. */
  async ship({ name, lines, file }: Source): Promise<void> {
    let line = 0;
    let isFirst = true;
    for await (const texts of lines) {
      // Lines of a live stream get the time at which they were read.
      const readAt = file === undefined ? new Date().toISOString() : undefined;
      for (const text of texts) {
        const origin = { source: name, line: ++line };
        for (const { json, hasOwnTime } of this.#eventsOf(text, origin, readAt)) {
          const repeatOf = hasOwnTime ? file?.identity : undefined;
          // A file begins a new batch, so that its batches do not depend on earlier files.
          if (isFirst && repeatOf !== undefined) await this.#flush();
          isFirst = false;
          const full = this.#batcher.add(json, origin, repeatOf);
          if (full !== undefined) await this.#submit(full);
        }
        if (file?.earlier.has(line)) await this.#flushRepeatable();
      }
      if (texts.length === 0) await this.#flush();
    }
    if (file === undefined) return this.#flush();
    if (this.#batcher.isRepeatable) await file.remember(line);
    await this.#flushRepeatable();
  }

  /** Sends the remaining events and waits for every answer. Fails if some could not be sent. */
  async finish(): Promise<void> {
    await this.#flush();
    await Promise.all(this.#underWay);
    this.#throwFailure();
  }

  #eventsOf(text: string, origin: Origin, readAt?: string): LineEvent[] {
    if (this.#options.isSkipped(text)) return [];
    return eventsOf(text, this.#options.defaults, readAt).filter(({ json }) => {
      if (Batcher.fits(json)) return true;
      this.#reject(origin, "the line is longer than an event may be");
      this.totals.rejected++;
      return false;
    });
  }

  async #flushRepeatable(): Promise<void> {
    if (this.#batcher.isRepeatable) await this.#flush();
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
