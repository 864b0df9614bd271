import { Buffer } from "node:buffer";

/** The place of an event in its file, for the report. */
export interface Origin {
  readonly source: string;
  readonly line: number;
}

export interface Batch {
  /** The JSON texts of the events. */
  readonly events: readonly string[];
  readonly origins: readonly Origin[];
  readonly bytes: number;
  /** The identity of the file, if the events have their own times: sent again, they are the same. */
  readonly repeatOf?: string;
}

const maxEvents = 10_000;
/** Somewhat below the service's limit of 512,000 bytes. */
const maxBytes = 490_000;

/** Fills batches up to what one request may hold. */
export class Batcher {
  #events: string[] = [];
  #origins: Origin[] = [];
  #bytes = 2;
  #repeatOf: string | undefined;

  static fits(event: string): boolean {
    return Buffer.byteLength(event) + 2 <= maxBytes;
  }

  /** Adds an event that fits; answers with the batch that was full before it, if any. */
  add(event: string, origin: Origin, repeatOf?: string): Batch | undefined {
    const bytes = Buffer.byteLength(event) + 1;
    const isFull = this.#events.length === maxEvents || this.#bytes + bytes > maxBytes;
    const full = isFull ? this.take() : undefined;
    this.#repeatOf = this.#events.length === 0 || this.#repeatOf === repeatOf
      ? repeatOf
      : undefined;
    this.#events.push(event);
    this.#origins.push(origin);
    this.#bytes += bytes;
    return full;
  }

  /** Whether something is collected, and would be the same in another run. */
  get isRepeatable(): boolean {
    return this.#events.length > 0 && this.#repeatOf !== undefined;
  }

  /** The collected events, if any. */
  take(): Batch | undefined {
    if (this.#events.length === 0) return undefined;
    const batch = {
      events: this.#events,
      origins: this.#origins,
      bytes: this.#bytes,
      ...this.#repeatOf !== undefined && { repeatOf: this.#repeatOf },
    };
    this.#events = [];
    this.#origins = [];
    this.#bytes = 2;
    return batch;
  }
}

export function halves({ events, origins, bytes, repeatOf }: Batch): Batch[] {
  const middle = Math.ceil(events.length / 2);
  return [[0, middle], [middle, events.length]].map(([from, to]) => ({
    events: events.slice(from, to),
    origins: origins.slice(from, to),
    bytes: Math.ceil(bytes / 2),
    ...repeatOf !== undefined && { repeatOf },
  }));
}
