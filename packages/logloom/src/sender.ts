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

/** The parts of a supabase-js client that are used here. */
export interface SupabaseClientLike {
  schema(name: "public"): { url: string; fetch?: typeof fetch };
}

export interface SenderOptions extends ValueOptions {
  /** The project's address. */
  readonly url?: string;
  /** An API key of Logloom, `ll_…`. */
  readonly key?: string;
  /**
   * Instead of a key: a function that gets an ingest token, `llt_…`, from your backend. Called at the first event, and
   * when the service refuses the token.
   */
  readonly token?: () => string | Promise<string>;
  /** Instead of an address and a key: sends as the signed-in user. */
  readonly supabase?: SupabaseClientLike;
  readonly service?: string;
  readonly env?: string;
  /** What is deployed: a version or a commit. Each event without one gets it as its attribute `release`. */
  readonly release?: string;
  /** Called with each event that the service refuses. */
  readonly onRejected?: (rejected: Rejected) => void;
  /** Called with each failure. Without it, new failures are shown as warnings on the console. */
  readonly onError?: (error: Error) => void;
  /** Keeps the runtime alive until events are sent. Found automatically in Supabase's functions and on Vercel. */
  readonly waitUntil?: WaitUntil;
}

/** Sends events in batches. None of its functions throws. */
export interface Sender {
  /** Adds an event of plain JSON and its tenant. Without a service or environment it gets the sender's. */
  add(event: Record<string, unknown>, tenant?: string): void;
  flush(withinMs?: number): Promise<boolean>;
  /** Sends all events. Takes at most ten seconds. */
  close(): Promise<void>;
  /** Reports an error in the caller's input. */
  fail(error: unknown): void;
  /** Turns the caller's values into plain JSON. */
  plain(members: Record<string, unknown>): Record<string, unknown>;
  /** Uses a request's `waitUntil` from now on. */
  useWaitUntil(waitUntil: WaitUntil): void;
}

const timeoutMs = 30_000;
const exitMs = 10_000;
/** How long a worker may retry: it ends 30 s after its request, and the last attempt may take this long once more. */
const requestMs = 10_000;
/** In this time at most twenty different failures are shown, each once. */
const repeatMs = 59_000;

/** Creates a sender. `settled` gets each answer and may return another one. */
export function createSender(
  options: SenderOptions,
  settled = (answer: Response, _body: string): Response | Promise<Response> => answer,
): Sender {
  const { supabase, url, key, token, onRejected, onError, service, env, release } = options;
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
      // Following a redirect would send the key and the events to another address.
      redirect: "manual",
      signal: AbortSignal.timeout(Math.min(timeoutMs, withinMs)),
      ...isPage && isSmall && { keepalive: true },
    });
    if (response.status !== 401 || !token) return settled(response, body);
    held = undefined;
    return isOld ? post(body, idempotencyKey, isSmall) : response;
  }

  const textOf = (event: object) => JSON.stringify({ service, env, release, ...event });

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
      // An error of a hook cannot be reported, and some runtimes refuse waitUntil outside a request.
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
  // A Worker may not create an AbortController while it starts.
  if (isPage) {
    const stop = new AbortController();
    host.addEventListener?.("pagehide", delivery.hurry, stop);
    host.document?.addEventListener("visibilitychange", hide, stop);
    leave = () => stop.abort();
  } else if (server) leave = atEnd(exit);

  return {
    add(event, tenant) {
      if (!isSet) return;
      // Asks for the token early, because a page may close before its first batch.
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
