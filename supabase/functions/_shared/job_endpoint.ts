import { timingSafeEqual } from "node:crypto";
import { logFailure } from "./errors.ts";
import { failureResponse, jsonText, methodNotAllowed } from "./http.ts";
import { takingBodies } from "./request_body.ts";

export interface JobCalls {
  /** The secret of the database's job; undefined if it is not set. */
  readonly secret: string | undefined;
  /** The error text while the secret is not set. */
  readonly unset: string;
  /** Completes the names of the secret: LOGLOOM_…_SECRET in the environment, X-Logloom-…-Secret in the request. */
  readonly job: "Notify" | "Archive";
  /** Keeps the function alive until the promise settles, after the answer. */
  readonly keepAlive: (work: Promise<void>) => void;
  readonly work: () => Promise<void>;
}

/** Handles the request by which a database job wakes a function: answers at once, then works on. */
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
