import { LogloomError } from "./error.ts";
import { refusalOf } from "./refusal.ts";
import { redirectOf } from "./redirect.ts";
import type { HealthReport } from "./types.ts";

/** The parts of a supabase-js client that are used here. */
export interface SupabaseClientLike {
  schema(name: "public"): { url: string; fetch?: typeof fetch };
}

/** A user's session without supabase-js. */
export interface Session {
  /** The project's address. */
  readonly url: string;
  /** The access token, or a function that returns the newest one, or null if nobody is signed in. */
  readonly token: string | (() => string | null | Promise<string | null>);
  /** Called when the service refuses the token. Return true if there is a new token to retry with. */
  readonly refused?: (why: LogloomError) => boolean | Promise<boolean>;
  /** The project's publishable key. Hosted projects require it. */
  readonly key?: string;
  /** The path of the operations. Default: `/rest/v1/rpc`. */
  readonly operations?: string;
  readonly fetch?: typeof fetch;
}

/** Access for a program with an API key of the scope `read`. Only the reading operations are available. */
export interface ReadKey {
  /** The project's address. */
  readonly url: string;
  /** `ll_…` */
  readonly key: string;
  readonly fetch?: typeof fetch;
}

export interface Patience {
  /**
   * How long a call is retried while the service is unreachable or busy, in milliseconds. Default: 10 seconds. A call
   * that changes something is never retried, because it may have succeeded although the answer was lost.
   */
  readonly patienceMs?: number;
  /** Called before each retry. */
  readonly onRetry?: (error: LogloomError, delayMs: number) => void;
}

export interface ReaderOptions extends Patience {
  /** How long an answer may take, in milliseconds. Default: 30 seconds. */
  readonly timeoutMs?: number;
  /** Parses an answer. Default: JSON.parse. Another function can keep numbers that JavaScript would round. */
  readonly parse?: (text: string) => unknown;
  /** Writes parameters as JSON. Default: JSON.stringify. Another function can write the numbers that `parse` keeps. */
  readonly stringify?: (parameters: object) => string;
}

/** The options of one call. They override the reader's options. */
export interface CallOptions extends Patience {
  readonly signal?: AbortSignal;
}

export interface SealOptions extends CallOptions {
  /** For service_role, which has no tenant of its own. */
  readonly tenantId?: string;
}

export interface Service {
  call(operation: string, parameters: object, options?: CallOptions): Promise<unknown>;
  health(name: string, options?: CallOptions): Promise<HealthReport>;
  seal(
    by: string,
    secrets: Record<string, string>,
    options?: SealOptions,
  ): Promise<Record<string, string>>;
}

const firstDelayMs = 500;
const longestDelayMs = 5_000;

/** The operations that change nothing, except run_saved_search, which counts its runs. */
export const reads: RegExp =
  /^(check|export|get|list|log|preview|run|search|tail|validate|verify)_/;

export function createService(
  source: SupabaseClientLike | Session | ReadKey,
  {
    patienceMs = 10_000,
    onRetry,
    timeoutMs = 30_000,
    parse = JSON.parse,
    stringify = JSON.stringify,
  }: ReaderOptions,
): Service {
  const door = doorOf(source);

  async function ask(path: string, init: RequestInit, signal?: AbortSignal) {
    // AbortSignal.any is not used, because a long-lived signal would keep every call in memory.
    const stop = new AbortController();
    const abort = () => stop.abort(signal?.reason);
    const timer = setTimeout(() => stop.abort(), timeoutMs);
    signal?.addEventListener("abort", abort);
    try {
      signal?.throwIfAborted();
      const asked: RequestInit = { ...init, redirect: "manual", signal: stop.signal };
      const response = await door.send(path, asked);
      const message = redirectOf(response);
      if (message !== undefined) throw new LogloomError(response.status || 302, { message }, 0);
      return { response, text: await response.text() };
    } catch (cause) {
      signal?.throwIfAborted();
      if (cause instanceof LogloomError) throw cause;
      throw new LogloomError(0, {}, 0, { cause });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    }
  }

  async function once(operation: string, body: string, signal?: AbortSignal): Promise<unknown> {
    const path = `${door.operations}/${operation}`;
    // Without Content-Profile PostgREST uses the first schema that the project exposes.
    const headers = { "Content-Type": "application/json", "Content-Profile": "public" };
    const init = { method: "POST", headers, body };
    let { response, text } = await ask(path, init, signal);
    if (response.status === 401 && await door.refused?.(errorOf(response, text))) {
      ({ response, text } = await ask(path, init, signal));
    }
    if (!response.ok) throw errorOf(response, text);
    try {
      return parse(text);
    } catch (cause) {
      // For example a network's sign-in page.
      const message = "Something else answered instead of the service.";
      throw new LogloomError(0, { message }, 0, { cause });
    }
  }

  return {
    async call(operation, parameters, options = {}) {
      const { signal } = options;
      const patience = reads.test(operation) ? options.patienceMs ?? patienceMs : 0;
      const body = stringify(parameters);
      const deadline = Date.now() + patience;
      for (let tries = 0;; tries++) {
        try {
          return await once(operation, body, signal);
        } catch (error) {
          if (!(error instanceof LogloomError)) throw error;
          // A search that took too long (408) is retried only if the caller waits without limit.
          if (!error.mayPass && !(error.status === 408 && patience === Infinity)) throw error;
          const backOff = Math.min(longestDelayMs, firstDelayMs * 2 ** tries);
          const delay = Math.max(error.retryAfterMs, backOff * (1 + Math.random()) / 2);
          if (Date.now() + delay > deadline) throw error;
          (options.onRetry ?? onRetry)?.(error, delay);
          await pause(delay, signal);
        }
      }
    },
    async health(name, { signal } = {}) {
      const { response, text } = await ask(`/functions/v1/${name}/detailed`, {}, signal);
      // A health report may also have status 503.
      const report = objectOf(text);
      if (typeof report.status !== "string") throw errorOf(response, text);
      return report as unknown as HealthReport;
    },
    async seal(by, secrets, { signal, tenantId } = {}) {
      const headers = { "Content-Type": "application/json" };
      const body = JSON.stringify({ p_secrets: secrets, p_tenant_id: tenantId });
      const init = { method: "POST", headers, body };
      const { response, text } = await ask(`/functions/v1/${by}/v1/seal`, init, signal);
      if (!response.ok) throw errorOf(response, text);
      return objectOf(text).p_secrets as Record<string, string>;
    },
  };
}

interface Door {
  /** The path of the operations. */
  readonly operations: string;
  send(path: string, init: RequestInit): Promise<Response>;
  refused?: Session["refused"];
}

const rpc = "/rest/v1/rpc";

function doorOf(source: SupabaseClientLike | Session | ReadKey): Door {
  const named = { "X-Client-Info": "logloom-read" };
  if ("schema" in source) {
    const { url, fetch: send = fetch } = source.schema("public");
    const project = url.replace(/\/rest\/v1\/?$/, "");
    return {
      operations: rpc,
      send: (path, init) =>
        send(project + path, { ...init, headers: { ...named, ...init.headers } }),
    };
  }
  const project = source.url.replace(/\/+$/, "");
  if (!("token" in source)) {
    const { key, fetch: send = fetch } = source;
    return {
      operations: "/functions/v1/logloom-read/v1",
      send: (path, init) =>
        send(project + path, { ...init, headers: { ...named, "X-API-Key": key, ...init.headers } }),
    };
  }
  const { token, key, refused, operations = rpc, fetch: send = fetch } = source;
  return {
    operations,
    refused,
    async send(path, init) {
      const current = typeof token === "string" ? token : await token();
      const headers = {
        ...named,
        // Supabase's gateway takes secret keys only as the apikey.
        ...current?.startsWith("sb_secret_") ? { apikey: current } : {
          ...current !== null && { Authorization: `Bearer ${current}` },
          ...key && { apikey: key },
        },
        ...init.headers,
      };
      return await send(project + path, { ...init, headers });
    },
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

function errorOf({ status, headers }: Response, text: string): LogloomError {
  const value = headers.get("Retry-After") ?? "";
  const ms = Number(value) * 1000 || Date.parse(value) - Date.now();
  const body = objectOf(text);
  if (body.code === "PGRST106") {
    body.message = "The project does not expose the schema public, which has the operations.";
    body.hint = "Add it to the exposed schemas in the project's Data API settings.";
  }
  // PostgREST also has this text in the message.
  const refusal = refusalOf(headers);
  const hint = body.hint ?? (refusal === body.message ? null : refusal);
  return new LogloomError(status, { ...body, hint }, ms > 0 ? ms : 0);
}

function objectOf(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
