import { Failure } from "../../local/failure.ts";
import { environment, localStack, namedUrl } from "./target.ts";
import { type Exchange, exchange } from "./http.ts";

/** A refusal by the service, with its position in the query. */
export class Refusal extends Failure {
  constructor(
    message: string,
    readonly status: number,
    readonly hint: string | null,
    readonly position: number | null,
  ) {
    super(message);
  }
}

export interface Service {
  /** Calls an operation. Temporary failures are retried until `signal` aborts or the time is up. */
  call(operation: string, parameters: Record<string, unknown>): Promise<unknown>;
}

export interface ServiceOptions {
  url: string;
  token: string;
  apiKey: string | undefined;
  signal: AbortSignal;
  /** How long one call is retried, in milliseconds. */
  patienceMs: number;
  onRetry: (reason: string) => void;
}

const firstDelayMs = 500;
const longestDelayMs = 15_000;

export function createService(options: ServiceOptions): Service {
  const headers = {
    "Authorization": `Bearer ${options.token}`,
    "Content-Type": "application/json",
    "X-Client-Info": "logloom-cli",
    ...options.apiKey !== undefined && { apikey: options.apiKey },
  };
  return {
    async call(operation, parameters) {
      const deadline = Date.now() + options.patienceMs;
      for (let tries = 0;; tries++) {
        const answer = await exchange(`${options.url}/rest/v1/rpc/${operation}`, {
          method: "POST",
          headers,
          body: JSON.stringify(parameters),
          signal: options.signal,
        });
        if (answer.status === 200) return parseExactly(answer.text);
        const backOff = Math.min(longestDelayMs, firstDelayMs * 2 ** tries);
        const delay = Math.max(answer.retryAfterMs, backOff);
        // A search that took too long would take too long again.
        const again = answer.passes && answer.status !== 408;
        if (!again || Date.now() + delay > deadline) throw refusalOf(answer);
        options.onRetry(answer.reason);
        await pause(delay, options.signal);
      }
    },
  };
}

export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const timer = setTimeout(done, ms);
    function done() {
      signal.removeEventListener("abort", stopped);
      resolve();
    }
    function stopped() {
      clearTimeout(timer);
      reject(signal.reason);
    }
    signal.addEventListener("abort", stopped, { once: true });
  });
}

function refusalOf({ status, body, reason }: Exchange): Refusal {
  const text = typeof body.message === "string" ? body.message : reason;
  return new Refusal(
    status === 401 ? `${text}: the token is not accepted, or no longer.` : text,
    status,
    typeof body.hint === "string" ? body.hint : null,
    positionOf(body.details),
  );
}

function positionOf(details: unknown): number | null {
  const match = typeof details === "string" ? /"position":\s*(\d+)/.exec(details) : null;
  return match ? Number(match[1]) : null;
}

/** Numbers keep the text that was sent. */
function parseExactly(text: string): unknown {
  const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown };
  const revive = (_key: string, value: unknown, context?: { source?: string }) =>
    typeof value === "number" && context?.source !== undefined && String(value) !== context.source
      ? rawJSON(context.source)
      : value;
  return JSON.parse(text, revive as (key: string, value: unknown) => unknown);
}

export interface Named {
  url?: string;
  token?: string;
  apikey?: string;
}

/** The address and the user, from options or the environment, else the local stack's first user. */
export async function readUser(named: Named) {
  const url = namedUrl(named.url);
  const token = named.token ?? environment("LOGLOOM_TOKEN");
  const apiKey = named.apikey ?? environment("LOGLOOM_PUBLISHABLE_KEY");
  if (url !== undefined && token !== undefined) return { url, token, apiKey };
  // A token is only sent to its own project.
  if (url !== undefined) {
    throw new Failure("an access token is needed for that address: --token or LOGLOOM_TOKEN.");
  }
  const state = await localStack("--token");
  const localToken = token ?? state.demo?.userTokens[0];
  if (localToken === undefined) {
    throw new Failure(
      "the local stack has no demo user: name a token by --token or LOGLOOM_TOKEN.",
    );
  }
  return { url: state.url, token: localToken, apiKey };
}
