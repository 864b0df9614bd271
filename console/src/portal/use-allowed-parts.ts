import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { allFeatures, type Features } from "../search/reader-features.ts";
import { LogloomError, type OperationName } from "../service/logloom.ts";
import type { ParentPage } from "./parent-page.ts";
import type { PortalService } from "./portal-service.ts";

/** The operations that each part of the search calls. */
const operationsOf = {
  histogram: ["log_histogram"],
  series: ["log_series"],
  changes: ["log_changes"],
  patterns: ["log_stats"],
  fields: ["list_log_fields"],
  live: ["tail_logs"],
  context: ["get_log_context"],
  errors: ["get_error_group"],
  export: ["export_logs", "search_logs"],
} satisfies Partial<Record<keyof Features, string[]>>;

/**
 * The parts of the page that the token allows, or null until that is known. A part whose operation is refused later (403)
 * disappears. If the search itself is refused, the host is told.
 */
export function useAllowedParts(service: PortalService, page: ParentPage): Features | null {
  const queries = useQueryClient();
  const [isKnown, setKnown] = useState(false);
  const [refused, setRefused] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => {
    let isOver = false;
    void service.openOperations().then((open) => {
      if (isOver) return;
      const closed = Object.values(operationsOf).flat().filter((one) => open && !open.has(one));
      setRefused(new Set(closed));
      setKnown(true);
    });
    return () => {
      isOver = true;
    };
  }, [service]);
  useEffect(
    () =>
      onRefusals(
        queries,
        (operation) => setRefused((now) => now.has(operation) ? now : new Set([...now, operation])),
      ),
    [queries],
  );
  useRefusal(page, "search_logs");
  return useMemo(() => isKnown ? featuresWithout(refused) : null, [isKnown, refused]);
}

/** Tells the host if the operation without which the page shows nothing is refused. */
export function useRefusal(page: ParentPage, main: OperationName): void {
  const queries = useQueryClient();
  useEffect(() => {
    let told: unknown = null;
    return onRefusals(queries, (operation, error) => {
      if (operation !== main || told === error) return;
      told = error;
      page.tell({ logloom: "error", status: error.status, message: error.message });
    });
  }, [queries, page, main]);
}

function onRefusals(
  queries: QueryClient,
  listener: (operation: string, error: LogloomError) => void,
): () => void {
  return queries.getQueryCache().subscribe(({ query }) => {
    const { error } = query.state;
    if (!(error instanceof LogloomError) || error.status !== 403) return;
    listener(String(query.queryKey[0]), error);
  });
}

/** The parts whose operations are all allowed. */
function featuresWithout(refused: ReadonlySet<string>): Features {
  const parts = Object.entries(operationsOf).map(([part, operations]) => {
    const isOpen = !operations.some((operation) => refused.has(operation));
    return [part, isOpen];
  });
  return {
    ...allFeatures,
    saved: false,
    senders: false,
    links: false,
    zone: true,
    ...Object.fromEntries(parts),
  };
}
