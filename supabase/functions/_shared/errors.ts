/** A refused request: the message for the client, and `reason` for whoever operates the service. */
export interface Failure {
  readonly status: number;
  readonly error: string;
  readonly retryAfter?: string;
  readonly notes?: Notes;
  readonly reason?: string;
  /** The fault of the credentials, for the header WWW-Authenticate: the body of a 401 is always the same. */
  readonly refusal?: string;
  /** The database's answer if its ingest rules are not those of the commit. A client never gets this answer. */
  readonly rules?: string;
}

/** Headers that the database adds to an answer: x-ratelimit-… for the client, x-logloom-… for this function. */
export type Notes = Readonly<Record<string, string>>;

export type Result<T> =
  | { readonly ok: true; readonly value: T; readonly notes?: Notes }
  | { readonly ok: false; readonly failure: Failure };

export function success<T>(value: T): Result<T> {
  return { ok: true, value };
}

export function failure(status: number, error: string, retryAfter?: string): Result<never> {
  return { ok: false, failure: { status, error, retryAfter } };
}

/** The body of every 401. */
export const unknownCaller = "Invalid token, API key, or missing tenant_id";

/** A 401, with the fault of the credentials for its header. */
export function notKnown(refusal: string): Result<never> {
  return { ok: false, failure: { status: 401, error: unknownCaller, refusal } };
}

/**
 * Returns 3 to 5 seconds, at random, so that clients do not return at the same moment. OpenTelemetry's SDK for
 * JavaScript gives up at the fifth repeat: if the waits were shorter, an outage of ten seconds would lose events.
 */
export function retrySoon(): string {
  return String(3 + Math.floor(Math.random() * 3));
}

/** Returns the Retry-After of a 503. */
export function unavailable(error: string, reason?: string): Result<never> {
  return { ok: false, failure: { status: 503, error, retryAfter: retrySoon(), reason } };
}

/** An unexpected error as it may be logged: without its message, because parsers and `fetch` quote their input. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const frame = error.stack?.split("\n").find((line) => line.startsWith("    at "));
  return frame === undefined ? error.name : `${error.name} ${frame.trim()}`;
}

export function logFailure(what: string, details: Record<string, string | number>): void {
  console.error(JSON.stringify({ level: "error", msg: what, ...details }));
}
