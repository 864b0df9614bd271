import { type InfiniteData, type QueryKey, useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { change, useAddress } from "../address/address.ts";
import { type Instants, type Range, standardRange } from "../address/range.ts";
import { aggregates, filterOf } from "../language/edit-query.ts";
import type { LogloomError, LogPage } from "../service/logloom.ts";
import { useOperation, useService } from "../service/operation-hooks.ts";
import { shareTimed, timed } from "../service/answer-times.ts";
import { useInstants } from "./use-instants.ts";

/** One run of a search: the query and the instants for all its requests. */
export interface Run {
  query: string;
  range: Range;
  instants: Instants | null;
  isAggregate: boolean;
  isLive: boolean;
  order: "desc" | "asc";
}

/** The run in the address. `again` repeats all its requests. */
export function useRun(): Run & { again: () => void } {
  const { parameters } = useAddress();
  const query = parameters.q ?? "";
  const from = parameters.from || standardRange.from;
  const to = parameters.to || standardRange.to;
  const order = parameters.order === "asc" ? "asc" : "desc";
  const isAggregate = aggregates(query);
  const isLive = parameters.live === "1" && !isAggregate;
  const { instants, again } = useInstants({ from, to }, `${order} ${isLive} ${query}`);
  return useMemo(
    () => ({ query, range: { from, to }, instants, isAggregate, isLive, order, again }),
    [query, from, to, instants, isAggregate, isLive, order, again],
  );
}

export function useRows(run: Run) {
  const service = useService();
  return useInfiniteQuery<LogPage, LogloomError, InfiniteData<LogPage>, QueryKey, string | null>({
    queryKey: ["search_logs", run.query, run.instants, run.order],
    enabled: run.instants !== null && !run.isAggregate && !run.isLive,
    initialPageParam: null,
    structuralSharing: shareTimed,
    queryFn: async ({ pageParam, signal }) => {
      // A page of a long range may be empty: continue until there are records.
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
    // When the same search runs again, the old rows stay until the new ones arrive.
    placeholderData: (data, before) => {
      const [, query, , order] = before?.queryKey ?? [];
      return query === run.query && order === run.order ? data : undefined;
    },
  });
}

export function useHistogram(run: Run, instants: Instants | null, buckets: number) {
  return useOperation("log_histogram", {
    p_query_dsl: filterOf(run.query),
    p_ts_from: instants?.from,
    p_ts_to: instants?.to,
    p_buckets: buckets,
  }, { enabled: instants !== null && buckets > 0, keep: true });
}

/** The fields of the records, or with a name those whose name contains it. */
export function useFields(run: Run, isWanted = true, name?: string) {
  return useOperation("list_log_fields", {
    p_query_dsl: filterOf(run.query),
    p_name: name,
    p_ts_from: run.instants?.from,
    p_ts_to: run.instants?.to,
  }, { enabled: isWanted && run.instants !== null, keep: true });
}

/** Runs a query by putting it into the address. */
export function runQuery(query: string): void {
  change({ q: query.trim(), id: "", at: "" });
}

export function runRange(range: Range): void {
  change({ from: range.from, to: range.to === "now" ? "" : range.to, live: "", around: "" });
}
