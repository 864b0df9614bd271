/** An error, in the service's words if it had any. */
export class ServiceError extends Error {
  constructor(
    message: string,
    /** HTTP status; 0 without an answer. */
    readonly status: number,
    /** How to fix it, in the service's words. */
    readonly hint: string | null = null,
    /** The position in the query, in characters from 1; null if it is not about a query. */
    readonly position: number | null = null,
    /** Seconds to wait, if the service named them. */
    readonly retryAfter: number | null = null,
  ) {
    super(message);
  }

  /** The service is temporarily unreachable. */
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
  if (status >= 500) return "The service is unavailable for a moment.";
  return `The service answered with status ${status}.`;
}
