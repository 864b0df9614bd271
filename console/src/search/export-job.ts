import { say } from "../shared/translate.ts";
import { createContext, useContext, useSyncExternalStore } from "react";
import { filterOf } from "../language/edit-query.ts";
import type { Service } from "../service/client.ts";
import { LogloomError } from "../service/logloom.ts";
import { Listeners } from "../service/session.ts";
import { type Format, saveParts } from "./export-file.ts";
import type { Run } from "./search-run.ts";

/** The largest file, in bytes. The menu shows this limit. */
export const mostExported = 2_000_000_000;

interface Job {
  saved: number;
  /** The number of records; null if unknown. */
  of: number | null;
  state: "running" | "done" | "full" | "failed";
  error: string | null;
}

/** An export to a file. It continues while its reader uses other screens. */
export class ExportJob extends Listeners {
  #now: Job | null = null;
  #running: AbortController | null = null;
  /** How many parts of the page show the progress. */
  #views = 0;

  get now(): Job | null {
    return this.#now;
  }

  get isShown(): boolean {
    return this.#views > 0;
  }

  /** Registers a part of the page that shows the progress. Call the result to unregister it. */
  showHere(): () => void {
    this.#views += 1;
    this.tell();
    return () => {
      this.#views -= 1;
      this.tell();
    };
  }

  stop = (): void => {
    this.#running?.abort();
    this.#put(null);
  };

  /** Reports a file that was saved at once. */
  noteSaved(saved: number): void {
    this.#put({ saved, of: saved, state: "done", error: null });
  }

  /** Saves everything that a search finds, page by page. */
  async start(service: Service, run: Run, format: Format): Promise<void> {
    this.#running?.abort();
    const stop = new AbortController();
    this.#running = stop;
    const { signal } = stop;
    const range = { since: run.instants?.from, until: run.instants?.to, signal };
    const now: Job = { saved: 0, of: null, state: "running", error: null };
    this.#put({ ...now });
    // With `| limit` the number of records is unknown.
    const counted = /\|\s*limit\b/.test(run.query)
      ? Promise.resolve(null)
      : service.stats(`${filterOf(run.query)} | count()`, range).catch(() => null);
    void counted.then((rows) => {
      now.of = rows?.[0]?.value ?? null;
    });
    const parts: Blob[] = [];
    let bytes = 0;
    try {
      for await (const page of service.export(run.query, { ...range, order: run.order, format })) {
        signal.throwIfAborted();
        // Browsers keep blobs outside the page's memory.
        const part = new Blob([page.text]);
        parts.push(part);
        bytes += part.size;
        now.saved += page.records;
        if (bytes > mostExported) now.state = "full";
        else this.#put({ ...now });
        if (now.state === "full") break;
      }
      await counted;
      signal.throwIfAborted();
      saveParts(format, parts);
      if (now.state === "running") Object.assign(now, { state: "done", of: now.of ?? now.saved });
      this.#put({ ...now });
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof LogloomError)) throw error;
      this.#put({ ...now, state: "failed", error: error.message });
    }
  }

  #put(next: Job | null): void {
    this.#now = next;
    this.tell();
  }
}

export const ExportContext = createContext<ExportJob | null>(null);

/** The current export. */
export function useExportJob() {
  const job = useContext(ExportContext);
  if (!job) throw new Error("nothing is saved above this component");
  useSyncExternalStore(job.subscribe, job.version);
  return { job, words: wordsOf(job.now), isRunning: job.now?.state === "running" };
}

function wordsOf(job: Job | null): string {
  if (job === null) return "";
  if (job.state === "failed") return say("Nothing was saved: {error}", { error: job.error ?? "" });
  const records = job.of === null ? say("{count} records", { count: job.saved }) : say(
    "{part} of {count} records",
    { part: job.saved, count: Math.max(job.of, job.saved) },
  );
  if (job.state === "running") return say("Saving: {records} so far.", { records });
  if (job.state === "done") {
    // An export leaves out the newest records, because some of them may not be visible yet.
    const isLess = job.of !== null && job.saved < job.of;
    return isLess
      ? say("Saved {records}. Records of the last 30 seconds are not included.", { records })
      : say("Saved {records}.", { records });
  }
  return say("Saved {records}: the file is full. Choose a shorter range for the rest.", {
    records,
  });
}
