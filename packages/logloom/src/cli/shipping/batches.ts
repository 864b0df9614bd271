import { Buffer } from "node:buffer";

/** Where an event is in its file, for the report. */
export interface Origin {
  readonly source: string;
  readonly line: number;
}

export interface Batch {
  /** The JSON texts of the events. */
  readonly events: readonly string[];
  readonly origins: readonly Origin[];
  readonly bytes: number;
  /**
   * The identity of the file, if the events have their own times. If the file is sent again, its batches are the same.
   */
  readonly repeatOf?: string;
}

const maxEvents = 10_000;
/** A little below the service's limit of 512,000 bytes. */
const maxBytes = 490_000;

/** Collects events into batches that fit into one request. */
export class Batcher {
  #events: string[] = [];
  #origins: Origin[] = [];
  #bytes = 2;
  #repeatOf: string | undefined;

  static fits(event: string): boolean {
    return Buffer.byteLength(event) + 2 <= maxBytes;
  }

  /** Adds an event. If the batch was full, returns it and begins a new one. */
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

  /** Whether there are collected events, and another run would collect the same ones. */
  get isRepeatable(): boolean {
    return this.#events.length > 0 && this.#repeatOf !== undefined;
  }

  /** Returns the collected events, if any. */
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
