import { timingSafeEqual } from "node:crypto";
import type { CallDatabase } from "../_shared/database.ts";
import { describeError, logFailure } from "../_shared/errors.ts";
import { failureResponse, jsonText, methodNotAllowed } from "../_shared/http.ts";
import { takingBodies } from "../_shared/request_body.ts";
import type { Bucket } from "./bucket.ts";
import { doWork, messageOf, type Outcome, type Work } from "./work.ts";

export interface ArchiveDependencies {
  /** The secret of the database's job; undefined if it is not set. */
  readonly secret: string | undefined;
  readonly callDatabase: CallDatabase;
  /** The bucket of this name; undefined where no key for it is set. */
  readonly bucketNamed: (name: string) => Bucket | undefined;
  /** Milliseconds that a claim may be worked at before it may not be uploaded any more. */
  readonly uploadLimitMs: number;
  /** After so long, and after so much of the processor, a run begins no further piece. */
  readonly budgetMs: number;
  readonly processorBudgetMs: number;
  /** Milliseconds that only go on, for spans. */
  readonly clock: () => number;
  /** Keeps the function alive until the promise settles, after the answer. */
  readonly keepAlive: (work: Promise<void>) => void;
}

interface Claim {
  readonly bucket: string;
  readonly prefix: string;
  readonly work: Work;
}

/** Nothing is due. */
interface NoClaim {
  readonly bucket?: undefined;
  readonly prefix?: undefined;
  readonly work: null;
}

export function createArchiveHandler(
  dependencies: ArchiveDependencies,
): (request: Request) => Promise<Response> {
  const { secret, keepAlive } = dependencies;
  let working: Promise<void> | undefined;

  return takingBodies(async (request) => {
    if (request.method !== "POST") return methodNotAllowed(request.method, "POST");
    if (secret === undefined) {
      logFailure("LOGLOOM_ARCHIVE_SECRET is not set", {});
      return failureResponse({ status: 503, error: "The archive is not configured" });
    }
    if (!await isSame(request.headers.get("X-Logloom-Archive-Secret") ?? "", secret)) {
      return failureResponse({ status: 401, error: "Invalid secret" });
    }
    // One piece at a time in a process: a file and its records take most of its memory.
    working ??= drain(dependencies)
      .catch((error) => {
        logFailure("the work at the archive stopped", { reason: describeError(error) });
      })
      .finally(() => working = undefined);
    keepAlive(working);
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

type Wait = <T>(answer: Promise<T>) => Promise<T>;

async function drain(dependencies: ArchiveDependencies): Promise<void> {
  const { clock, budgetMs, processorBudgetMs } = dependencies;
  const began = clock();
  let waitedMs = 0;
  // What is not waited for is the processor's: hosted, nothing else tells.
  const wait: Wait = async (answer) => {
    const asked = clock();
    try {
      return await answer;
    } finally {
      waitedMs += clock() - asked;
    }
  };
  while (await doNext(dependencies, wait)) {
    const tookMs = clock() - began;
    if (tookMs > budgetMs || tookMs - waitedMs > processorBudgetMs) return;
  }
}

function waitedFor(bucket: Bucket, wait: Wait): Bucket {
  return {
    get: (key) => wait(bucket.get(key)),
    put: (key, body) => wait(bucket.put(key, body)),
    delete: (key) => wait(bucket.delete(key)),
    list: (prefix, after) => wait(bucket.list(prefix, after)),
    keepsVersions: () => wait(bucket.keepsVersions()),
  };
}

/** Does the next piece of work. Whether there was one and it went well. */
async function doNext(dependencies: ArchiveDependencies, wait: Wait): Promise<boolean> {
  const { clock } = dependencies;
  const callDatabase: CallDatabase = (...call) => wait(dependencies.callDatabase(...call));
  const answer = await callDatabase("claim_log_archive_work", "{}");
  if (!answer.ok) return false;
  const { bucket: name, prefix, work } = JSON.parse(answer.value) as Claim | NoClaim;
  if (work === null) return false;
  const claimedAt = clock();
  let outcome: Outcome | undefined;
  let error: string | undefined;
  try {
    const bucket = dependencies.bucketNamed(name);
    if (bucket === undefined) {
      error = "The function logloom-archive has no key for a bucket";
    } else {
      outcome = await doWork(work, {
        bucket: waitedFor(bucket, wait),
        prefix,
        callDatabase,
        mayWrite: () => clock() - claimedAt < dependencies.uploadLimitMs,
      });
    }
  } catch (failure) {
    error = messageOf(failure);
  }
  const members = [
    `"p_claim_id":${JSON.stringify(work.claim_id)}`,
    ...error === undefined ? [] : [`"p_error":${JSON.stringify(error)}`],
    ...outcome === undefined ? [] : [`"p_details":${JSON.stringify(outcome.details)}`],
    ...outcome?.records === undefined ? [] : [`"p_records":${outcome.records}`],
  ];
  const settled = await callDatabase(
    "settle_log_archive_work",
    `{${members.join(",")}}`,
  );
  return settled.ok && error === undefined;
}
