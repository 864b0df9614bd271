import {
  type InfiniteData,
  type QueryKey,
  useInfiniteQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { change, useAddress } from "../address/address.ts";
import { type Instants, type Range, resolve, standardRange } from "../address/range.ts";
import { aggregates, filterOf } from "../language/edit.ts";
import type { LogloomError, LogPage } from "../service/logloom.ts";
import { useOperation, useService } from "../service/hooks.ts";
import { shareTimed, timed } from "../service/took.ts";

/** One run of a search: the query and the instants for all its requests. */
export interface Run {
  query: string;
  range: Range;
  instants: Instants | null;
  isAggregate: boolean;
  isLive: boolean;
  order: "desc" | "asc";
}

/** The run of the address; `again` asks all of it anew, relative times up to now. */
export function useRun(): Run & { again: () => void } {
  const queries = useQueryClient();
  const { parameters } = useAddress();
  const [stamp, setStamp] = useState(() => Date.now());
  const query = parameters.q ?? "";
  const from = parameters.from || standardRange.from;
  const to = parameters.to || standardRange.to;
  const order = parameters.order === "asc" ? "asc" : "desc";
  const isAggregate = aggregates(query);
  const isLive = parameters.live === "1" && !isAggregate;
  return useMemo(() => {
    // The stamp changes when somebody runs the query again; a new query or range has the current time anyway.
    const instants = resolve({ from, to }, Math.max(stamp, Date.now()));
    return {
      query,
      range: { from, to },
      instants,
      isAggregate,
      isLive,
      order,
      again: () => {
        const next = resolve({ from, to }, Date.now());
        if (next?.from !== instants?.from || next?.to !== instants?.to) setStamp(Date.now());
        // Answers are kept by their instants: those of fixed times would be shown once more.
        else {void queries.invalidateQueries({
            predicate: ({ queryKey }) => isOf(instants, queryKey),
          });}
      },
    };
  }, [query, from, to, stamp, isAggregate, isLive, order, queries]);
}

/** Whether an answer is of a run: its key has both instants, as parameters or by themselves. */
function isOf(instants: Instants | null, key: QueryKey): boolean {
  const values = key.flatMap((part) => Object.values(Object(part)));
  return instants !== null && values.includes(instants.from) && values.includes(instants.to);
}

export function useRows(run: Run) {
  const service = useService();
  return useInfiniteQuery<LogPage, LogloomError, InfiniteData<LogPage>, QueryKey, string | null>({
    queryKey: ["search_logs", run.query, run.instants, run.order],
    enabled: run.instants !== null && !run.isAggregate && !run.isLive,
    initialPageParam: null,
    structuralSharing: shareTimed,
    queryFn: async ({ pageParam, signal }) => {
      // A page of a long range may be empty.
      for (let cursor = pageParam;;) {
        const page: LogPage = await timed(() =>
          service.search(run.query, {
            since: run.instants?.from,
            until: run.instants?.to,
            order: run.order,
            limit: pageParam === null ? 100 : 500,
            cursor: cursor ?? undefined,
            signal,
          })
        );
        if (page.logs.length > 0 || page.next_cursor === null) return page;
        cursor = page.next_cursor;
      }
    },
    getNextPageParam: (page) => page.next_cursor,
    // The same search again: its rows stay until the new ones arrive.
    placeholderData: (data, before) => {
      const [, query, , order] = before?.queryKey ?? [];
      return query === run.query && order === run.order ? data : undefined;
    },
  });
}

export function useHistogram(run: Run, buckets: number) {
  return useOperation("log_histogram", {
    p_query_dsl: filterOf(run.query),
    p_ts_from: run.instants?.from,
    p_ts_to: run.instants?.to,
    p_buckets: buckets,
  }, { enabled: run.instants !== null && buckets > 0, keep: true });
}

export function useFields(run: Run, isWanted = true) {
  return useOperation("list_log_fields", {
    p_query_dsl: filterOf(run.query),
    p_ts_from: run.instants?.from,
    p_ts_to: run.instants?.to,
  }, { enabled: isWanted && run.instants !== null, keep: true });
}

/** Puts a query into the address, which runs it. */
export function runQuery(query: string): void {
  change({ q: query.trim(), id: "", at: "" });
}

export function runRange(range: Range): void {
  change({
    from: range.from,
    to: range.to === "now" ? "" : range.to,
    live: "",
  });
}
