import { timingSafeEqual } from "node:crypto";
import { logFailure } from "./errors.ts";
import { failureResponse, jsonText, methodNotAllowed } from "./http.ts";
import { takingBodies } from "./request_body.ts";

export interface JobCalls {
  /** The secret of the database's job; undefined if it is not set. */
  readonly secret: string | undefined;
  /** What is said while it is not set. */
  readonly unset: string;
  /** Whose job it is, by the names of its secret: LOGLOOM_…_SECRET here, a header of the request. */
  readonly job: "Notify" | "Archive";
  /** Keeps the function alive until the promise settles, after the answer. */
  readonly keepAlive: (work: Promise<void>) => void;
  readonly work: () => Promise<void>;
}

/** A function that a job of the database wakes: it answers at once, and works on. */
export function calledByJob(
  { secret, unset, job, keepAlive, work }: JobCalls,
): (request: Request) => Promise<Response> {
  return takingBodies(async (request) => {
    if (request.method !== "POST") {
      return methodNotAllowed(request.method, "POST");
    }
    if (secret === undefined) {
      logFailure(`LOGLOOM_${job.toUpperCase()}_SECRET is not set`, {});
      return failureResponse({ status: 503, error: unset });
    }
    if (!await isSame(request.headers.get(`X-Logloom-${job}-Secret`) ?? "", secret)) {
      return failureResponse({ status: 401, error: "Invalid secret" });
    }
    keepAlive(work());
    return jsonText(202, JSON.stringify({ accepted: true }));
  });
}

/** Compares digests, so that timing reveals neither content nor length. */
async function isSame(given: string, expected: string): Promise<boolean> {
  const [a, b] = await Promise.all(
    [given, expected].map((text) =>
      crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))
    ),
  );
  return timingSafeEqual(new Uint8Array(a), new Uint8Array(b));
}
