import { timingSafeEqual } from "node:crypto";
import type { CallDatabase } from "./database.ts";
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

/**
 * What a call that claims work answers; undefined where it fails. That the database is another project's shows nowhere
 * else.
 */
export async function claimed(call: ReturnType<CallDatabase>): Promise<string | undefined> {
  const answer = await call;
  if (answer.ok) return answer.value;
  if (answer.failure.status === 409) logFailure("no work here", { reason: answer.failure.error });
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
