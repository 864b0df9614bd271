import { claimed } from "../_shared/claimed_work.ts";
import type { CallDatabase } from "../_shared/database.ts";
import { calledByJob, type JobCalls } from "../_shared/job_endpoint.ts";
import { storableJson } from "../ingest/event_collector.ts";
import type { DrainSender } from "../ingest/own_drain_events.ts";
import { type Page, type PageError, pageOf, queryOf, type Window } from "./platform_logs.ts";

export interface PlatformDependencies extends Pick<JobCalls, "secret" | "keepAlive"> {
  readonly callDatabase: CallDatabase;
  /** The address of the Management API. */
  readonly api: string;
  /** The project's reference id; undefined if it is not hosted. */
  readonly ref: string | undefined;
  /** A personal access token. Only the header of the request has it. */
  readonly token: string | undefined;
  readonly isOwn: DrainSender["isOwn"];
  /** The longest answer that is read. */
  readonly maxPageLength: number;
}

/** A project that has used up its allowance may ask ten times a minute. */
const pagesOfRun = 5;
/**
 * How many rows to ask for until they fit: in few steps, because each query counts. The last step also cuts their
 * content.
 */
const pageSizes = [[1000, false], [100, false], [10, false], [10, true]] as const;

export function createPlatformHandler(
  dependencies: PlatformDependencies,
): (request: Request) => Promise<Response> {
  return calledByJob({
    ...dependencies,
    unset: "The collector is not configured",
    job: "Notify",
    work: () => readPages(dependencies),
  });
}

async function readPages(dependencies: PlatformDependencies): Promise<void> {
  let read: object = {};
  for (let pages = 1;; pages++) {
    const call = dependencies.callDatabase(
      "exchange_platform_logs",
      storableJson({ p_read: read }),
    );
    const window: Window | null = JSON.parse(await claimed(call) ?? "null");
    if (window === null) return;
    read = {
      window_id: window.window_id,
      ...await readPage(window, dependencies),
      ...pages === pagesOfRun && { is_end: true },
    };
  }
}

async function readPage(
  window: Window,
  dependencies: PlatformDependencies,
): Promise<Page | PageError> {
  for (const [rows, isCut] of pageSizes) {
    const page = await askForPage(queryOf(window, rows, isCut), rows, dependencies);
    if (page !== undefined) return page;
  }
  return { error: "A page of logs is too large" };
}

/**
 * Asks the Management API for a page; undefined if it is too large. An error says nothing of the request's or the
 * answer's content.
 */
async function askForPage(
  query: URLSearchParams,
  rows: number,
  { api, ref, token, isOwn, maxPageLength }: PlatformDependencies,
): Promise<Page | PageError | undefined> {
  if (token === undefined) return { error: "LOGLOOM_PLATFORM_TOKEN is not set" };
  if (ref === undefined) return { error: "This is not a hosted project" };
  const url = `${api}/v1/projects/${ref}/analytics/endpoints/logs?${query}`;
  try {
    const { status, headers, body } = await fetch(url, {
      headers: { Authorization: `Bearer ${token}` },
      // A redirect is an error with a status, and is not followed.
      redirect: "manual",
      signal: AbortSignal.timeout(30_000),
    });
    let text = "";
    for await (const part of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += part;
      if (text.length > maxPageLength) return undefined;
    }
    if (status === 200) {
      return pageOf(text, rows, isOwn) ?? {
        error: text.trimStart().startsWith("{")
          ? "The Management API refused the query"
          : "The Management API answered 200 without logs",
      };
    }
    const seconds = headers.get("Retry-After") ?? headers.get("X-RateLimit-Reset") ?? "";
    const error = `The Management API answered ${status}`;
    return { error, ...(/^\d{1,5}$/.test(seconds)) && { retry_after: Number(seconds) } };
  } catch {
    return { error: "The Management API does not answer" };
  }
}
