/** A refusal by the service, or the failure to reach it. */
export class LogloomError extends Error {
  /** `PT` and the status for the service's own errors. */
  readonly code: string;
  /** 0 if there was no answer. */
  readonly status: number;
  /** The place in the query, in characters from 1. */
  readonly position: number | null;
  /** How to mend it. */
  readonly hint: string | null;
  /** When to ask again, in milliseconds. */
  readonly retryAfterMs: number;

  constructor(status: number, body: unknown, retryAfterMs: number, options?: ErrorOptions) {
    const { code, message, error, hint, details } = Object(body) as Record<string, unknown>;
    super(text(message) ?? text(error) ?? plainWords(status), options);
    const { name, position } = detailsOf(details);
    this.name = text(name) ?? "LogloomError";
    this.code = text(code) ?? "";
    this.status = status;
    this.position = typeof position === "number" ? position : null;
    this.hint = text(hint) ?? null;
    this.retryAfterMs = retryAfterMs;
  }

  /** Whether nobody answered, or only somebody on the way. */
  get isAway(): boolean {
    return this.status === 0 || this.status >= 502 && this.status <= 504;
  }

  /** Whether the same call may succeed later. */
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

/** An error's name and position come as JSON text. */
function detailsOf(details: unknown): Record<string, unknown> {
  try {
    return Object(typeof details === "string" ? JSON.parse(details) : details);
  } catch {
    return {};
  }
}
