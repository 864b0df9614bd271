import { useEffect, useState } from "react";
import { useService } from "../service/operation-hooks.ts";
import { LogloomError, type LogRecord, type LogTail } from "../service/logloom.ts";

/** The most rows of a live view. Older rows are dropped. */
export const mostLive = 5000;
/** The pause after each page while the tab is hidden. */
const hiddenPause = 3000;

export interface TailState {
  /** Batches by arrival, each in the order of time, the newest on top. */
  rows: LogRecord[];
  /** Records arrive faster than they are fetched. */
  isBehind: boolean;
  /** How many rows were dropped. */
  dropped: number;
  error: LogloomError | null;
  isStarted: boolean;
}

const start: TailState = { rows: [], isBehind: false, dropped: 0, error: null, isStarted: false };

/** Follows new records. While paused it sends no requests, and the cursor keeps the position. */
export function useTail(query: string, isOn: boolean, isPaused: boolean): TailState {
  const service = useService();
  const [{ of, state }, setKept] = useState({ of: query, state: start });
  const [cursor] = useState({ query: "", value: null as string | null });

  useEffect(() => {
    if (!isOn || cursor.query !== query) {
      cursor.value = null;
      cursor.query = query;
      setKept({ of: query, state: start });
    }
    if (!isOn || isPaused) return;
    const stop = new AbortController();
    const setState = (change: (now: TailState) => TailState) =>
      setKept((now) => ({ of: query, state: change(now.state) }));
    const follow = async () => {
      try {
        const pages = service.tailPages(query, {
          ...(cursor.value === null ? { backlog: 50 } : { cursor: cursor.value }),
          signal: stop.signal,
          patienceMs: Infinity,
          onRetry: (error) => setState((now) => ({ ...now, error })),
        });
        for await (const page of pages) {
          if (stop.signal.aborted) return;
          cursor.value = page.next_cursor;
          setState((now) => taken(now, page));
          if (document.hidden) await new Promise((resolve) => setTimeout(resolve, hiddenPause));
        }
      } catch (error) {
        if (stop.signal.aborted) return;
        // A wrong query stays wrong, so it is not retried.
        if (!(error instanceof LogloomError)) throw error;
        setState((now) => ({ ...now, error }));
      }
    };
    void follow();
    return () => stop.abort();
  }, [service, query, isOn, isPaused, cursor]);

  return of === query ? state : start;
}

function taken(state: TailState, { logs, more }: LogTail): TailState {
  const known = { ...state, isStarted: true, isBehind: more, error: null };
  if (logs.length === 0) return known;
  // The service sends records in the order of arrival.
  const rows = logs.toSorted((a, b) => Date.parse(b.ts) - Date.parse(a.ts)).concat(state.rows);
  return {
    ...known,
    rows: rows.slice(0, mostLive),
    dropped: state.dropped + Math.max(0, rows.length - mostLive),
  };
}
