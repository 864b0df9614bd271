import { inCommands } from "../command_names.ts";
import { refusalOf } from "../../read/refusal.ts";
import { redirectOf } from "../../read/redirect.ts";

/** One request and its outcome. It throws only if the caller aborts it. */
export interface Exchange {
  /** 0 if there was no answer. */
  readonly status: number;
  readonly text: string;
  /** The answer if it is a JSON object, else {}. */
  readonly body: Record<string, unknown>;
  /** The failure in plain words. */
  readonly reason: string;
  /** Whether a retry may succeed. */
  readonly passes: boolean;
  readonly retryAfterMs: number;
}

const timeoutMs = 30_000;

export async function exchange(
  url: string,
  init: RequestInit,
  now: () => number = Date.now,
): Promise<Exchange> {
  // AbortSignal.any is missing in Node 20.0.
  const stop = new AbortController();
  const abort = () => stop.abort();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    abort();
  }, timeoutMs);
  init.signal?.addEventListener("abort", abort);
  try {
    init.signal?.throwIfAborted();
    const response = await fetch(url, { ...init, redirect: "manual", signal: stop.signal });
    return exchangeOf(response, await response.text(), now());
  } catch {
    init.signal?.throwIfAborted();
    const reason = isLate ? `no answer within ${timeoutMs / 1000} s` : `${url} cannot be reached`;
    return { status: 0, text: "", body: {}, reason, passes: true, retryAfterMs: 0 };
  } finally {
    clearTimeout(timer);
    init.signal?.removeEventListener("abort", abort);
  }
}

function exchangeOf(response: Response, text: string, now: number): Exchange {
  const { status, headers } = response;
  const body = objectOf(text);
  const said = [body.error, body.message].find((one) => typeof one === "string");
  const refusal = refusalOf(headers);
  const why = refusal === undefined ? "" : ` (${inCommands(refusal)})`;
  return {
    status,
    text,
    body,
    reason: redirectOf(response) ?? `${status} ${said ?? "no reason given"}${why}`,
    passes: status === 408 || status === 429 || status >= 500,
    retryAfterMs: retryAfter(headers, now),
  };
}

function retryAfter(headers: Headers, now: number): number {
  const value = headers.get("Retry-After") ?? "";
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? 0 : Math.max(0, at - now);
}

function objectOf(text: string): Record<string, unknown> {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === "object" && body !== null ? { ...body } : {};
  } catch {
    return {};
  }
}
