import { createDelivery, type Rejected } from "./delivery_queue.ts";
import { atEnd } from "./at_exit.ts";
import {
  foundWaitUntil,
  host,
  isPage,
  server,
  type WaitUntil,
  warn,
  withoutKey,
} from "./runtime.ts";
import { createPlain, type ValueOptions } from "./plain_values.ts";

/** A supabase-js client, as far as it is needed. */
export interface SupabaseClientLike {
  schema(name: "public"): { url: string; fetch?: typeof fetch };
}

export interface SenderOptions extends ValueOptions {
  /** The project's address. */
  readonly url?: string;
  /** An API key of Logloom, `ll_…`. */
  readonly key?: string;
  /** Instead of a key: asks your backend for an ingest token, `llt_…`, now and whenever it has expired. */
  readonly token?: () => string | Promise<string>;
  /** Instead of an address and a key: events are sent as the user who is signed in. */
  readonly supabase?: SupabaseClientLike;
  readonly service?: string;
  readonly env?: string;
  /** Told of each event that the service refuses. */
  readonly onRejected?: (rejected: Rejected) => void;
  /** Told of what fails; without it each new failure is a warning on the console. */
  readonly onError?: (error: Error) => void;
  /** Keeps the runtime alive until events are sent; found by itself in Supabase's functions and on Vercel. */
  readonly waitUntil?: WaitUntil;
}

/** Sends events in batches. None of its functions throws. */
export interface Sender {
  /** Takes an event of plain JSON, and whose it is; its service and environment are the sender's where it has none. */
  add(event: Record<string, unknown>, tenant?: string): void;
  flush(withinMs?: number): Promise<boolean>;
  /** Sends what it has taken, for at most ten seconds. */
  close(): Promise<void>;
  /** Reports a failure of what the caller gave. */
  fail(error: unknown): void;
  /** Makes plain JSON of what a program gives. */
  plain(members: Record<string, unknown>): Record<string, unknown>;
  /** Uses a request's `waitUntil` from now on. */
  useWaitUntil(waitUntil: WaitUntil): void;
}

const timeoutMs = 30_000;
const exitMs = 10_000;
/** A worker ends at most thirty seconds after its request: the last try may take as long again. */
const requestMs = 10_000;
/** The console is told of each failure, and of twenty at most, once in so long. */
const repeatMs = 59_000;

/** `settled` sees the answer to a body, and may return another. */
export function createSender(
  options: SenderOptions,
  settled = (answer: Response, _body: string): Response | Promise<Response> => answer,
): Sender {
  const { url, key, token, supabase, service, env, onRejected, onError } = options;
  const rest = supabase?.schema("public");
  const send = rest?.fetch ?? fetch;
  const project = (rest?.url ?? url ?? "").replace(/(\/rest\/v1)?\/*$/, "");
  let said: string[] = [];
  let saidUntil = 0;
  let waitUntil = options.waitUntil ?? foundWaitUntil;
  let withinMs = Infinity;

  function fail(error: unknown): void {
    const known = error instanceof Error ? error : new Error(String(error));
    guarded(() => {
      if (onError) return onError(known);
      const text = `logloom: ${known.message}`;
      if (performance.now() >= saidUntil) {
        saidUntil = performance.now() + repeatMs;
        said = [];
      }
      if (said.length < 20 && !said.includes(text)) {
        said.push(text);
        warn(text);
      }
    });
  }

  let held: string | Promise<string | undefined> | undefined = key;

  async function ask(): Promise<string | undefined> {
    try {
      return await token?.();
    } catch (error) {
      fail(error);
    }
  }

  async function post(body: string, idempotencyKey: string, isSmall: boolean): Promise<Response> {
    const isOld = token && held;
    held ??= ask();
    const response = await send(`${project}/functions/v1/ingest`, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        "Idempotency-Key": idempotencyKey,
        ...!rest && { "X-API-Key": `${await held}` },
      },
      body,
      // Else the key and the events would go wherever it leads.
      redirect: "manual",
      signal: AbortSignal.timeout(Math.min(timeoutMs, withinMs)),
      ...isPage && isSmall && { keepalive: true },
    });
    if (response.status !== 401 || !token) return settled(response, body);
    held = undefined;
    return isOld ? post(body, idempotencyKey, isSmall) : response;
  }

  const textOf = (event: object) => JSON.stringify({ service, env, ...event });

  const delivery = createDelivery({
    post,
    noteOf: (dropped) =>
      textOf({
        ts: new Date(),
        level: "warn",
        msg: `logloom: ${dropped} events were dropped`,
        attrs: { dropped },
      }),
    mayPass401: rest || token,
    onRejected: (rejected) => guarded(() => onRejected?.(rejected)),
    onError: fail,
    waitUntil: (promise) => guarded(() => waitUntil(promise)),
    timeout: () => withinMs,
  });

  const isUrl = /^https?:\/\/[^/?#]+$/.test(project);
  const isSet = rest || isUrl && (key || token);
  if (!isSet) {
    const fault = isUrl
      ? "key is missing"
      : `url is not like https://<project>.supabase.co: ${withoutKey(project)}`;
    fail(`nothing is sent, ${fault}`);
  }
  const plain = createPlain(options);

  function guarded(act: () => void): void {
    try {
      act();
    } catch {
      // A hook that throws has nobody to tell; a runtime may refuse to wait outside a request.
    }
  }

  let leave: (() => unknown) | undefined;
  const hide = () => {
    if (host.document?.visibilityState === "hidden") delivery.hurry();
  };
  const exit = async () => {
    if (await delivery.flush(exitMs)) return;
    leave?.();
    fail("not everything was sent within 10 s");
  };
  // A Worker may make no AbortController while it starts.
  if (isPage) {
    const stop = new AbortController();
    host.addEventListener?.("pagehide", delivery.hurry, stop);
    host.document?.addEventListener("visibilitychange", hide, stop);
    leave = () => stop.abort();
  } else if (server) leave = atEnd(exit);

  return {
    add(event, tenant) {
      if (!isSet) return;
      // A page may be gone before its first batch is sent.
      held ??= ask();
      try {
        delivery.add(textOf(event), tenant);
      } catch (error) {
        fail(error);
      }
    },
    flush: delivery.flush,
    async close() {
      await exit();
      leave?.();
    },
    fail,
    plain,
    useWaitUntil(other) {
      waitUntil = other;
      withinMs = requestMs;
    },
  };
}
