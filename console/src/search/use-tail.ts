import { useEffect, useState } from "react";
import { ServiceError } from "../service/errors.ts";
import { useService } from "../service/hooks.ts";
import type { LogRecord, Tail } from "../service/records.ts";

/** The most rows of a live view; older ones go. */
export const mostLive = 5000;
const visibleEvery = 1000;
const hiddenEvery = 4000;
const pageSize = 500;
const backlog = 50;

export interface TailState {
  /** Newest first, by arrival. */
  rows: LogRecord[];
  /** More arrives than is fetched. */
  isBehind: boolean;
  /** Rows that were dropped because there were too many. */
  dropped: number;
  error: ServiceError | null;
  isStarted: boolean;
}

const start: TailState = {
  rows: [],
  isBehind: false,
  dropped: 0,
  error: null,
  isStarted: false,
};

/** Follows new records, each once. While paused it asks for nothing; the cursor keeps the position. */
export function useTail(
  query: string,
  isOn: boolean,
  isPaused: boolean,
): TailState {
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
    let timer: ReturnType<typeof setTimeout> | undefined;
    const next = async () => {
      let wait = document.hidden ? hiddenEvery : visibleEvery;
      try {
        const answer = await service.call<Tail>("tail_logs", {
          p_query_dsl: query,
          p_cursor: cursor.value,
          p_limit: pageSize,
          ...(cursor.value === null ? { p_backlog: backlog } : {}),
        }, stop.signal);
        if (stop.signal.aborted) return;
        cursor.value = answer.next_cursor;
        setState((now) => taken(now, answer));
        if (answer.more) wait = 50;
      } catch (error) {
        if (stop.signal.aborted || !(error instanceof ServiceError)) return;
        setState((now) => ({ ...now, error }));
        // A wrong query stays wrong; everything else is retried when the service says.
        if (!error.isAway && error.status !== 408 && error.status !== 429) {
          return;
        }
        wait = Math.max(2000, (error.retryAfter ?? 0) * 1000);
      }
      timer = setTimeout(next, wait);
    };
    void next();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [service, query, isOn, isPaused, cursor]);

  return of === query ? state : start;
}

function taken(state: TailState, { logs, more }: Tail): TailState {
  const known = { ...state, isStarted: true, isBehind: more, error: null };
  if (logs.length === 0) return known;
  const rows = [...logs].reverse().concat(state.rows);
  return {
    ...known,
    rows: rows.slice(0, mostLive),
    dropped: state.dropped + Math.max(0, rows.length - mostLive),
  };
}
