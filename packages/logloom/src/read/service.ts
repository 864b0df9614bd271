import { LogloomError } from "./error.ts";

/** A supabase-js client, as far as it is needed. */
export interface SupabaseClientLike {
  schema(name: "public"): { url: string; fetch?: typeof fetch };
}

/** A user's session without supabase-js. */
export interface Session {
  /** The project's address. */
  readonly url: string;
  /** The access token, or what gives the newest one. */
  readonly token: string | (() => string | Promise<string>);
  /** The project's publishable key, which hosted projects ask for. */
  readonly key?: string;
}

export interface ReaderOptions {
  /** How long a call is tried again while the service is away or busy, in milliseconds: 10 seconds unless told otherwise. */
  readonly patienceMs?: number;
  /** Told before a call is tried again. */
  readonly onRetry?: (error: LogloomError, delayMs: number) => void;
  /** Reads an answer, for numbers that JavaScript would round; JSON.parse unless told otherwise. */
  readonly parse?: (text: string) => unknown;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export type Call = (
  operation: string,
  parameters: object,
  options: CallOptions & { patienceMs?: number },
) => Promise<unknown>;

const timeoutMs = 30_000;
const firstDelayMs = 500;
const longestDelayMs = 15_000;

export function createCall(
  source: SupabaseClientLike | Session,
  { patienceMs: ownPatienceMs = 10_000, onRetry, parse = JSON.parse }: ReaderOptions,
): Call {
  const post = poster(source);

  async function once(operation: string, body: string, signal?: AbortSignal): Promise<unknown> {
    // Not AbortSignal.any: a signal that lives long would remember each call.
    const stop = new AbortController();
    const abort = () => stop.abort(signal?.reason);
    const timer = setTimeout(() => stop.abort(), timeoutMs);
    signal?.addEventListener("abort", abort);
    let response: Response;
    let text: string;
    try {
      response = await post(operation, body, stop.signal);
      text = await response.text();
    } catch (cause) {
      signal?.throwIfAborted();
      throw new LogloomError(0, {}, 0, { cause });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    }
    if (response.ok) return parse(text);
    throw new LogloomError(response.status, objectOf(text), retryAfterMs(response.headers));
  }

  return async (operation, parameters, { signal, patienceMs = ownPatienceMs }) => {
    const body = JSON.stringify(parameters);
    const deadline = Date.now() + patienceMs;
    for (let tries = 0;; tries++) {
      signal?.throwIfAborted();
      try {
        return await once(operation, body, signal);
      } catch (error) {
        if (!(error instanceof LogloomError) || !error.mayPass) throw error;
        const backOff = Math.min(longestDelayMs, firstDelayMs * 2 ** tries);
        const delay = Math.max(error.retryAfterMs, backOff * (1 + Math.random()) / 2);
        if (Date.now() + delay > deadline) throw error;
        onRetry?.(error, delay);
        await pause(delay, signal);
      }
    }
  };
}

function poster(source: SupabaseClientLike | Session) {
  const init = (body: string, signal: AbortSignal, headers = {}) => ({
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Client-Info": "logloom-read", ...headers },
    body,
    signal,
  });
  if ("schema" in source) {
    const { url, fetch: send = fetch } = source.schema("public");
    return (operation: string, body: string, signal: AbortSignal) =>
      send(`${url}/rpc/${operation}`, init(body, signal));
  }
  const { url, token, key } = source;
  const project = url.replace(/\/+$/, "");
  return async (operation: string, body: string, signal: AbortSignal) => {
    const current = typeof token === "string" ? token : await token();
    const headers = { Authorization: `Bearer ${current}`, ...key !== undefined && { apikey: key } };
    return await fetch(`${project}/rest/v1/rpc/${operation}`, init(body, signal, headers));
  };
}

export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      signal?.removeEventListener("abort", stop);
      resolve();
    };
    const timer = setTimeout(end, ms);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}

function retryAfterMs(headers: Headers): number {
  const value = headers.get("Retry-After") ?? "";
  const ms = Number(value) * 1000 || Date.parse(value) - Date.now();
  return ms > 0 ? ms : 0;
}

function objectOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
