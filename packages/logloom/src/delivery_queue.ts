import { host, isPage, later, server, type WaitUntil, withoutKey } from "./runtime.ts";

/** An event that the service refused, with the reason. */
export interface Rejected {
  readonly event: Record<string, unknown>;
  readonly code: string;
  readonly message: string;
}

export interface DeliveryOptions {
  /** Sends a body once. A retry passes the same key. */
  post(body: string, idempotencyKey: string, isSmall: boolean): Promise<Response>;
  /** Returns an event, as JSON text, that says how many events were dropped. */
  noteOf(dropped: number): string;
  /** Whether to retry after a 401, because a user may sign in later. */
  mayPass401: unknown;
  onRejected(rejected: Rejected): void;
  onError(error: Error): void;
  /** Keeps the runtime alive until the queue is empty. Must not throw. */
  waitUntil: WaitUntil;
  /** Returns how long sending may take. A worker stops soon after its request; the next request sends the rest. */
  timeout(): number;
}

export interface Delivery {
  /** Adds an event, as JSON text, and the tenant that it belongs to. */
  add(text: string, tenant?: string): void;
  /** Sends all events. False if this takes longer than `withinMs`. */
  flush(withinMs?: number): Promise<boolean>;
  /** Sends as much as fits into a page's last requests, because the page may close. */
  hurry(): void;
}

interface Queued {
  readonly text: string;
  readonly bytes: number;
  readonly tenant?: string;
}

interface Batch {
  readonly texts: string[];
  /** The same for every attempt. */
  readonly key: string;
  /** The number of events, without the event about dropped ones. */
  readonly size: number;
  readonly bytes: number;
  /** The number of dropped events that its first event reports. */
  readonly dropped: number;
}

interface Answer {
  success?: boolean;
  error?: string;
  errors?: { index: number; code: string; message: string }[];
}

/** Browsers let a closing page send 64 KiB, headers included. */
const keepaliveBytes = 60_000;
const batchEvents = 500;
/** The service's limit for one request. */
const batchTenants = 100;
// A page may close at any time, so each of its requests must fit into the last one's limit.
const batchBytes = isPage ? keepaliveBytes : 256 * 1024;
/** Events are sent sooner where a developer watches a terminal, and in functions, which may end at any time. */
const batchMs = server && !server.stdout?.isTTY && !host.EdgeRuntime ? 5000 : 2000;
const queueEvents = server ? 50_000 : 10_000;
const queueBytes = server ? 25_000_000 : 5_000_000;
const firstDelayMs = 500;
const longestDelayMs = 30_000;
const patienceMs = 300_000;
/** The time between warnings while the service is unreachable. */
const warnMs = 60_000;

const encoder = new TextEncoder();

/** Creates a bounded queue that sends events in batches, one at a time and in order. */
export function createDelivery(options: DeliveryOptions): Delivery {
  let queue: Queued[] = [];
  let bytes = 0;
  let dropped = 0;
  let onTheWay = 0;
  let isRefused = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let sending: Promise<void> | undefined;
  let isDrained: (() => void) | undefined;
  let warnAt = 0;
  /** The batch that was not sent in time. The next flush begins with it. */
  let left: Batch | undefined;
  const waiting = new Set<() => void>();

  const isFull = () => queue.length >= batchEvents || bytes >= batchBytes;

  function add(text: string, tenant?: string): void {
    if (isRefused) return;
    const size = encoder.encode(text).length + 1;
    queue.push({ text, bytes: size, tenant });
    bytes += size;
    let oldest = 0;
    while (queue.length - oldest > queueEvents || bytes > queueBytes) {
      bytes -= queue[oldest++].bytes;
    }
    queue.splice(0, oldest);
    dropped += oldest;
    if (!isDrained) {
      options.waitUntil(new Promise<void>((resolve) => isDrained = resolve));
    }
    next();
  }

  function next(): void {
    if (isFull()) send();
    else if (queue.length > 0) timer ??= later(send, batchMs);
    else if (!sending) end();
  }

  function end(): void {
    isDrained?.();
    isDrained = undefined;
  }

  /** Sends the events that are in the queue now. */
  function send(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    return sending ??= sendQueue().catch(options.onError).finally(() => {
      sending = undefined;
      left ? end() : next();
    });
  }

  async function sendQueue(): Promise<void> {
    let count = queue.length;
    while (left || count > 0 && queue.length) {
      if (!left) {
        left = take(batchBytes);
        count -= left.size;
      }
      if (await deliver(left)) return;
      left = undefined;
    }
  }

  function take(most: number): Batch {
    let count = 0;
    let total = 0;
    const tenants = new Set<string | undefined>();
    while (count < queue.length && count < batchEvents) {
      const { bytes: one, tenant } = queue[count];
      tenants.add(tenant);
      if (count > 0 && (total + one > most || tenants.size > batchTenants)) break;
      total += one;
      count++;
    }
    const texts = queue.splice(0, count).map(({ text }) => text);
    if (dropped) texts.unshift(options.noteOf(dropped));
    // Pages over plain HTTP have no randomUUID.
    const key = `${Math.random()}-${Math.random()}`;
    const batch = { texts, key, size: count, bytes: total, dropped };
    bytes -= total;
    dropped = 0;
    return batch;
  }

  /** Sends a batch. True if no time is left for another attempt; otherwise the batch was sent, refused or lost. */
  async function deliver(batch: Batch): Promise<true | void> {
    const began = performance.now();
    onTheWay += batch.bytes;
    try {
      for (let tries = 0; !isRefused; tries++) {
        const [status, answer, reason, retryAfterMs] = await exchange(batch);
        if (status === 200) {
          for (const { index, code, message } of answer.errors ?? []) {
            options.onRejected({ event: parsed(batch.texts[index]), code, message });
          }
          return;
        }
        if (status === 401 && !options.mayPass401) {
          isRefused = true;
          queue = [];
          bytes = 0;
          options.onError(new Error(`${reason}: nothing more is sent`));
          return;
        }
        const passes = status >= 500 || [0, 401, 408, 429].includes(status);
        if (!passes || status !== 401 && performance.now() - began >= patienceMs) {
          dropped += batch.dropped + batch.size;
          options.onError(new Error(`${reason}: ${batch.size} events are lost`));
          return;
        }
        if (performance.now() >= warnAt) {
          warnAt = performance.now() + warnMs;
          options.onError(new Error(`${reason}: trying again`));
        }
        const delay = Math.min(longestDelayMs, firstDelayMs * 2 ** tries) * (1 + Math.random()) / 2;
        const wait = Math.min(patienceMs, Math.max(delay, retryAfterMs));
        if (performance.now() - began + wait > options.timeout()) return true;
        await pause(wait);
      }
    } finally {
      onTheWay -= batch.bytes;
    }
  }

  async function exchange(
    batch: Batch,
  ): Promise<[status: number, answer: Answer, reason: string, retryAfterMs: number]> {
    try {
      const response = await options.post(
        `[${batch.texts.join()}]`,
        batch.key,
        batch.bytes <= keepaliveBytes,
      );
      const answer = parsed(await response.text());
      // An answer of something else, such as a network's sign-in page, acknowledges nothing. A redirect is not
      // followed, and acknowledges nothing either.
      const acknowledges = response.ok ? answer.success !== undefined : response.status >= 400;
      const status = acknowledges ? response.status : 0;
      const after = response.headers.get("Retry-After") ?? "";
      const afterMs = Number(after) * 1000 || Date.parse(after) - Date.now();
      // Only this header says why a key or token was refused.
      const why = response.headers.get("WWW-Authenticate")?.match(/ion="(.*)"/)?.[1];
      const reason = `${response.status} ${answer.error ?? "without a reason"}${
        why ? ` (${why})` : ""
      }`;
      return [status, answer, reason, afterMs || 0];
    } catch (error) {
      // Browsers give no cause.
      const cause = server && (error as { cause?: { code?: string } } | null)?.cause;
      // The runtime's message may quote the request, and so the key.
      const reason = withoutKey(`${error}${cause ? `: ${cause.code ?? cause}` : ""}`);
      return [0, {}, reason, 0];
    }
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        waiting.delete(wake);
        resolve();
      };
      waiting.add(wake);
      later(wake, ms);
    });
  }

  async function flush(withinMs?: number): Promise<boolean> {
    // Without this a timer would keep a finished program alive.
    if (!sending && queue.length === 0 && !left) return true;
    // Sends the current batch first, then the events that were added since.
    const all = async () => {
      await sending;
      await send();
      return !left;
    };
    if (withinMs === undefined) return all();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<boolean>((resolve) => timer = setTimeout(resolve, withinMs, false));
    try {
      return await Promise.race([all(), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  function hurry(): void {
    for (const wake of waiting) wake();
    const room = keepaliveBytes - onTheWay;
    if (queue[0]?.bytes <= room) {
      deliver(take(room)).catch(options.onError).finally(next);
    }
  }

  return { add, flush, hurry };
}

function parsed(text: string): Answer & Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
