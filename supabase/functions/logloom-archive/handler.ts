import { calledByJob, type JobCalls } from "../_shared/job_endpoint.ts";
import { claimed } from "../_shared/claimed_work.ts";
import type { CallDatabase } from "../_shared/database.ts";
import { describeError, logFailure } from "../_shared/errors.ts";
import type { Bucket } from "./bucket.ts";
import { doWork, messageOf, type Outcome, type Work } from "./archive_work.ts";

export interface ArchiveDependencies extends Pick<JobCalls, "secret" | "keepAlive"> {
  readonly callDatabase: CallDatabase;
  /** The bucket of this name; undefined if no key for it is set. */
  readonly bucketNamed: (name: string) => Bucket | undefined;
  /** For how many milliseconds after a claim an upload may begin. */
  readonly uploadLimitMs: number;
  /** A run begins no further piece after this time, or after this processor time. */
  readonly budgetMs: number;
  readonly processorBudgetMs: number;
  /** A monotonic clock in milliseconds. */
  readonly clock: () => number;
}

interface Claim {
  readonly bucket: string;
  readonly prefix: string;
  readonly work: Work;
}

/** The database's answer if no work is due. */
interface NoClaim {
  readonly bucket?: undefined;
  readonly prefix?: undefined;
  readonly work: null;
}

export function createArchiveHandler(
  dependencies: ArchiveDependencies,
): (request: Request) => Promise<Response> {
  let working: Promise<void> | undefined;
  return calledByJob({
    ...dependencies,
    unset: "The archive is not configured",
    job: "Archive",
    // Works on one piece at a time, because a file and its records take most of a process's memory.
    work: () =>
      working ??= drain(dependencies)
        .catch((error) => {
          logFailure("the work at the archive stopped", { reason: describeError(error) });
        })
        .finally(() => working = undefined),
  });
}

type Wait = <T>(answer: Promise<T>) => Promise<T>;

async function drain(dependencies: ArchiveDependencies): Promise<void> {
  const { clock, budgetMs, processorBudgetMs } = dependencies;
  const began = clock();
  let waitedMs = 0;
  // Hosted functions cannot read their processor time, so all time except waiting counts as processor time.
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

/** Does the next piece of work. True if there was one and it succeeded. */
async function doNext(dependencies: ArchiveDependencies, wait: Wait): Promise<boolean> {
  const { clock } = dependencies;
  const callDatabase: CallDatabase = (...call) => wait(dependencies.callDatabase(...call));
  const answer = await claimed(callDatabase("claim_log_archive_work", "{}"));
  if (answer === undefined) return false;
  const { bucket: name, prefix, work } = JSON.parse(answer) as Claim | NoClaim;
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
  const settled = await callDatabase("settle_log_archive_work", `{${members.join(",")}}`);
  return settled.ok && error === undefined;
}
