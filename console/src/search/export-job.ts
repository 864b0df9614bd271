import { say } from "../shared/words.ts";
import { createContext, useContext, useSyncExternalStore } from "react";
import { filterOf } from "../language/edit.ts";
import type { Service } from "../service/client.ts";
import { LogloomError } from "../service/logloom.ts";
import { Listeners } from "../service/session.ts";
import { type Format, saveParts } from "./export.ts";
import type { Run } from "./use-search.ts";

/** The most that a browser is asked to hold for a file; the page says so. */
export const mostExported = 2_000_000_000;

interface Job {
  saved: number;
  /** The number of records; null if unknown. */
  of: number | null;
  state: "running" | "done" | "full" | "failed";
  error: string | null;
}

/** What one reader saves, wherever on the page they are. */
export class ExportJob extends Listeners {
  #now: Job | null = null;
  #running: AbortController | null = null;
  /** Places on the page that tell of it. */
  #tellers = 0;

  get now(): Job | null {
    return this.#now;
  }

  get isTold(): boolean {
    return this.#tellers > 0;
  }

  /** Says that this part of the page tells of it, until the answer is called. */
  toldHere(): () => void {
    this.#tellers += 1;
    this.tell();
    return () => {
      this.#tellers -= 1;
      this.tell();
    };
  }

  stop = (): void => {
    this.#running?.abort();
    this.#put(null);
  };

  /** For what was saved at once. */
  noteSaved(saved: number): void {
    this.#put({ saved, of: saved, state: "done", error: null });
  }

  /** Saves everything that a search finds, page after page, while one does something else. */
  async start(service: Service, run: Run, format: Format): Promise<void> {
    this.#running?.abort();
    const stop = new AbortController();
    this.#running = stop;
    const { signal } = stop;
    const range = { since: run.instants?.from, until: run.instants?.to, signal };
    const now: Job = { saved: 0, of: null, state: "running", error: null };
    this.#put({ ...now });
    // Records behind a limiting stage cannot be counted.
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
        // The browser keeps what is a blob out of the page's memory.
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

/** What is being saved. */
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
    // An export ends where all that was received is visible.
    const isLess = job.of !== null && job.saved < job.of;
    return isLess
      ? say("Saved {records}. The newest, of the last half minute, are not in it.", { records })
      : say("Saved {records}.", { records });
  }
  return say("Saved {records}, the most at once. Choose a shorter range for the rest.", {
    records,
  });
}
