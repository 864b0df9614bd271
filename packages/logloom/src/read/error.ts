/** An error of the service, or a failure to reach it. */
export class LogloomError extends Error {
  /** The error code. For the service's own errors: `PT` and the status. */
  readonly code: string;
  /** 0 if there was no answer. */
  readonly status: number;
  /** The position in the query, counted in characters from 1. */
  readonly position: number | null;
  /** The index of the document that the error is about, for apply_tenant_files. */
  readonly document: number | null;
  /** How to mend it. */
  readonly hint: string | null;
  /** How long to wait before a retry, in milliseconds. */
  readonly retryAfterMs: number;

  constructor(status: number, body: unknown, retryAfterMs: number, options?: ErrorOptions) {
    const { code, message, error, hint, details } = Object(body) as Record<string, unknown>;
    super(text(message) ?? text(error) ?? plainWords(status), options);
    const { name, position, document } = detailsOf(details);
    this.name = text(name) ?? "LogloomError";
    this.code = text(code) ?? "";
    this.status = status;
    this.position = typeof position === "number" ? position : null;
    this.document = typeof document === "number" ? document : null;
    this.hint = text(hint) ?? null;
    this.retryAfterMs = retryAfterMs;
  }

  /** Whether the service was not reached: no answer, or a gateway's 502, 503 or 504. */
  get isAway(): boolean {
    return this.status === 0 || this.status >= 502 && this.status <= 504;
  }

  /** Whether a retry may succeed. */
  get mayPass(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

function plainWords(status: number): string {
  if (status === 0) return "The service cannot be reached.";
  if (status >= 500) return "The service is unavailable for a moment.";
  return `The service answered with status ${status}.`;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Reads the error's name and position, which arrive as JSON text. */
function detailsOf(details: unknown): Record<string, unknown> {
  try {
    return Object(typeof details === "string" ? JSON.parse(details) : details);
  } catch {
    return {};
  }
}
