/** What went wrong, in the words of the service where it had any. */
export class ServiceError extends Error {
  constructor(
    message: string,
    /** HTTP status; 0 when there was no answer at all. */
    readonly status: number,
    /** How to mend it, in the service's words. */
    readonly hint: string | null = null,
    /** Where in the query it is wrong, from 1, in characters; null when it is not about a query. */
    readonly position: number | null = null,
    /** Seconds after which to ask again, where the service said so. */
    readonly retryAfter: number | null = null,
  ) {
    super(message);
  }

  /** The service, or the way to it, is away for a moment. */
  get isAway(): boolean {
    return this.status === 0 || this.status === 502 || this.status === 503 ||
      this.status === 504;
  }
}

interface Answer {
  message?: unknown;
  error?: unknown;
  hint?: unknown;
  details?: unknown;
}

export function errorOf(
  status: number,
  body: unknown,
  retryAfter: string | null,
): ServiceError {
  const answer = (typeof body === "object" && body !== null ? body : {}) as Answer;
  const said = [answer.message, answer.error].find((text) =>
    typeof text === "string" && text !== ""
  );
  const seconds = Number(retryAfter);
  return new ServiceError(
    typeof said === "string" ? said : plainWords(status),
    status,
    typeof answer.hint === "string" && answer.hint !== "" ? answer.hint : null,
    positionOf(answer.details),
    retryAfter !== null && Number.isFinite(seconds) ? seconds : null,
  );
}

/** Errors of the query language carry `{"position": 7}` in `details`. */
function positionOf(details: unknown): number | null {
  if (typeof details !== "string" || !details.startsWith("{")) return null;
  try {
    const { position } = JSON.parse(details) as { position?: unknown };
    return typeof position === "number" ? position : null;
  } catch {
    return null;
  }
}

function plainWords(status: number): string {
  if (status === 0) return "The service cannot be reached.";
  if (status >= 500) return "The service is away for a moment.";
  return `The service answered with status ${status}.`;
}
