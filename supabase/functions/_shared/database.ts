import {
  describeError,
  type Failure,
  logFailure,
  type Notes,
  type Result,
  retrySoon,
  success,
  unavailable,
} from "./errors.ts";

export interface DatabaseOptions {
  readonly url: string;
  readonly serviceKey: string;
  readonly timeoutMs: number;
  /** Sent to the database, which gives no work to functions of another project. */
  readonly projectUrl?: string;
}

/**
 * Calls one database function and returns its JSON text. The body has the parameters as JSON. A body of the type
 * text/plain is the one unnamed parameter. PostgREST does not parse it, which saves most of the cost of a large body.
 */
export type CallDatabase = (
  name: string,
  body: string,
  contentType?: "text/plain",
) => Promise<Result<string>>;

/** The answer while the database is unreachable. */
export const databaseAway = "The database is unavailable, try again";

/** Statuses that the database chose. Any other refusal is a fault of ours. */
const decidedStatuses = new Set([400, 401, 403, 404, 409, 413, 429, 503]);

/** The answer if the project does not expose the schema public. */
const publicIsHidden =
  "The schema public is not exposed: add it to the project's exposed schemas (Data API settings)";

/** Texts for the error codes of a database that cannot answer any call now. */
const knownReasons: Readonly<Record<string, string>> = {
  PGRST106: publicIsHidden,
  "25006": "The database is read-only, try again later",
  "53100": "The disk of the database is full, try again later",
};

/** Whether this error code means that the database cannot answer any call now. */
export function isAway(code: string): boolean {
  return code in knownReasons;
}

/** The text for the client if a call fails with this error code. */
export function awayMessage(code: string): string {
  return knownReasons[code] ?? databaseAway;
}

/** The version in package.json, which is not deployed with the function. */
export const version = "1.0.0";
/** Marks our requests in the project's logs. */
export const userAgent = `logloom/${version}`;

/** The headers of a call as service_role. */
export function serviceHeaders(serviceKey: string): Record<string, string> {
  return {
    apikey: serviceKey,
    "User-Agent": userAgent,
    // Otherwise PostgREST takes the first schema that the project exposes.
    "Content-Profile": "public",
    // A secret key is not a token: the gateway exchanges it for one, unless the request has a token already.
    ...!serviceKey.startsWith("sb_") && { Authorization: `Bearer ${serviceKey}` },
  };
}

export function createDatabase(options: DatabaseOptions): CallDatabase {
  const { projectUrl } = options;
  const headers = {
    ...serviceHeaders(options.serviceKey),
    ...projectUrl !== undefined && { "X-Logloom-Project": projectUrl },
  };

  return async (name, body, contentType) => {
    let response: Response;
    let text: string;
    try {
      response = await fetch(`${options.url}/rest/v1/rpc/${name}`, {
        method: "POST",
        headers: { ...headers, "Content-Type": contentType ?? "application/json" },
        body,
        redirect: "error",
        signal: AbortSignal.timeout(options.timeoutMs),
      });
      text = await response.text();
    } catch (error) {
      logFailure("database call failed", { call: name, reason: describeError(error) });
      const isLate = error instanceof DOMException && error.name === "TimeoutError";
      return unavailable(
        databaseAway,
        isLate ? "PostgREST did not answer in time" : "PostgREST does not answer",
      );
    }
    return readAnswer(name, response.status, response.headers, text);
  };
}

/** The database's answer to a function call. */
export function readAnswer(
  name: string,
  status: number,
  headers: Headers,
  text: string,
): Result<string> {
  const notes = readNotes(headers);
  if (status === 200) return { ...success(text), ...notes };

  const { code, message, hint } = readError(text);
  if (code.startsWith("PT") && decidedStatuses.has(status)) {
    const decided: Failure = {
      status,
      error: message,
      retryAfter: readRetryAfter(headers) ?? (status === 503 ? retrySoon() : undefined),
      ...status === 401 && hint !== undefined && { refusal: hint },
      ...notes,
    };
    return { ok: false, failure: decided };
  }
  const why = whyAway(status, code);
  logFailure("database refused the call", { call: name, status, code, why });
  return unavailable(awayMessage(code), why);
}

/** Returns a text of our own, because a proxy's answer may hold anything. */
function whyAway(status: number, code: string): string {
  if (/^PGRST00\d$/.test(code)) return "PostgREST cannot reach the database";
  if (code === "57014") return "The database did not answer in time";
  if (isAway(code)) return knownReasons[code];
  if (/^(PGRST\d{3}|[0-9A-Z]{5})$/.test(code)) return `The database refused to answer (${code})`;
  return [502, 503, 504].includes(status)
    ? "PostgREST does not answer"
    : `PostgREST is not reachable (${status} from the gateway)`;
}

/** Retry-After of the answer. PostgREST puts a 0 before the database's value on every 503. */
export function readRetryAfter(headers: Headers): string | undefined {
  const values = headers.get("Retry-After")?.split(",").map((value) => value.trim());
  return values?.findLast((value) => value !== "0");
}

function readNotes(headers: Headers): { notes?: Notes } {
  const notes = [...headers].filter(([name]) => /^x-(ratelimit|logloom)-/.test(name));
  return notes.length > 0 ? { notes: Object.fromEntries(notes) } : {};
}

/** The code, message and hint of PostgREST's error. */
export function readError(text: string): { code: string; message: string; hint?: string } {
  try {
    const error: unknown = JSON.parse(text);
    if (typeof error === "object" && error !== null && "code" in error && "message" in error) {
      const hint = "hint" in error && typeof error.hint === "string" ? error.hint : undefined;
      return { code: String(error.code), message: String(error.message), hint };
    }
  } catch {
    return { code: "not JSON", message: "" };
  }
  return { code: "none", message: "" };
}
