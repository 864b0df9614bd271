import { useMemo } from "react";
import { useOperation } from "../service/hooks.ts";
import type { Page } from "../service/records.ts";

/** Whether the tenant has no record at all: asked only when a search found nothing. */
export function useEverEmpty(isAsked: boolean): boolean {
  const range = useMemo(() => ({
    p_ts_from: new Date(Date.now() - 366 * 86_400_000).toISOString(),
    p_ts_to: new Date(Date.now() + 2 * 86_400_000).toISOString(),
  }), []);
  const any = useOperation<Page>("search_logs", {
    p_query_dsl: "",
    ...range,
    p_limit: 1,
  }, {
    enabled: isAsked,
  });
  return isAsked && any.data !== undefined && any.data.logs.length === 0;
}
