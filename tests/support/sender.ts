import { Buffer } from "node:buffer";
import { type Answer, ingest, type Tenant } from "./client.ts";
import { countRecords, type Database, queueIsEmpty } from "./database.ts";
import { patience, pause } from "./eventually.ts";

/**
 * A correct client: numbers its events, gives each request an Idempotency-Key, and repeats unacknowledged requests.
 */
export class Sender {
  /** The number of events in requests that were answered with 200. */
  acknowledged = 0;
  /** The number of repeated requests. */
  repeats = 0;
  /** Milliseconds from the first byte to the answer, of each request that was answered with 200. */
  readonly durations: number[] = [];
  readonly tenant: Tenant;
  readonly #eventsPerRequest: number;
  readonly #pauseBetween: number;
  readonly #ballast: number;
  readonly #mostPerSecond: number;
  #sent = 0;
  #stopped = false;
  #work: Promise<unknown> = Promise.resolve();

  /**
   * `ballast`: bytes of random text in each event, which cannot be compressed. `mostPerSecond` limits `start`, so that a
   * free plan's month lasts for a quarter of an hour.
   */
  constructor(
    tenant: Tenant,
    { eventsPerRequest = 100, pauseBetween = 0, ballast = 0, mostPerSecond = 1000 } = {},
  ) {
    this.tenant = tenant;
    this.#eventsPerRequest = eventsPerRequest;
    this.#pauseBetween = pauseBetween;
    this.#ballast = ballast;
    this.#mostPerSecond = mostPerSecond;
  }

  /** Sends requests, a few at a time, until all are acknowledged. */
  async send(requests: number, connections = 2): Promise<void> {
    let left = requests;
    await Promise.all(Array.from({ length: connections }, async () => {
      while (left-- > 0) await this.#sendOne();
    }));
  }

  /** Sends until it is stopped, at a limited rate, so that the load is the same on all machines. */
  start(connections = 2): void {
    const least = connections * this.#eventsPerRequest * 1000 / this.#mostPerSecond;
    this.#work = Promise.all(Array.from({ length: connections }, async () => {
      while (!this.#stopped) {
        const began = performance.now();
        await this.#sendOne();
        await pause(Math.max(this.#pauseBetween, least - (performance.now() - began)));
      }
    }));
    // A failure is reported by stop.
    this.#work.catch(() => {});
  }

  /** Stops when all requests under way are acknowledged. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#work;
  }

  async #sendOne(): Promise<void> {
    const first = this.#sent;
    this.#sent += this.#eventsPerRequest;
    const random = crypto.getRandomValues(new Uint8Array(this.#ballast * 3 / 4));
    const events = Array.from({ length: this.#eventsPerRequest }, (_, index) => ({
      level: "info",
      msg: `event ${first + index} of a client that wants to know what becomes of it`,
      service: "sender",
      n: first + index,
      // The ballast differs in each event, because equal texts in a request would be compressed.
      ballast: shifted(random, index),
    }));
    const body = JSON.stringify(events);
    const headers = { ...this.tenant.headers, "idempotency-key": `events-${first}` };
    const deadline = performance.now() + patience;
    for (;;) {
      const began = performance.now();
      const answer = await ingest(headers, body).catch((): Answer | undefined => undefined);
      if (answer?.status === 200 && answer.body.ingested === events.length) {
        this.durations.push(performance.now() - began);
        this.acknowledged += events.length;
        return;
      }
      if (answer !== undefined && answer.status !== 503) {
        throw new Error(`ingest answered ${answer.status}: ${JSON.stringify(answer.body)}`);
      }
      if (performance.now() > deadline) throw new Error("ingest refuses, or is away, for good");
      this.repeats += 1;
      await pause(50);
    }
  }
}

function shifted(random: Uint8Array<ArrayBuffer>, by: number): string | undefined {
  if (random.length === 0) return undefined;
  const bytes = random.map((byte) => (byte * (2 * by + 1)) ^ (by >> 7));
  return Buffer.from(bytes).toString("base64");
}

export interface Outcome {
  records: number;
  /** The number of different events. */
  numbers: number;
  least: number | null;
  greatest: number | null;
  dead: number;
}

/** Returns the stored events of a sender, after the queue is empty. */
export async function outcomeOf(sql: Database, tenant: Tenant): Promise<Outcome> {
  await queueIsEmpty(sql);
  const [row] = await sql`
    select
      count(distinct (attrs ->> 'n'))::integer as numbers,
      min((attrs ->> 'n')::integer) as least,
      max((attrs ->> 'n')::integer) as greatest
    from logloom.logs where tenant_id = ${tenant.id}`;
  const [{ dead }] = await sql`
    select count(*)::integer as dead from logloom_private.dead_letters where tenant_id = ${tenant.id}`;
  return {
    records: await countRecords(sql, tenant.id),
    numbers: row.numbers,
    least: row.least,
    greatest: row.greatest,
    dead,
  };
}

/** Returns the expected outcome if every event is stored exactly once. */
export function complete({ acknowledged }: Sender): Outcome {
  return {
    records: acknowledged,
    numbers: acknowledged,
    least: 0,
    greatest: acknowledged - 1,
    dead: 0,
  };
}

export function percentile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}
