import { useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { change, readAddress } from "../address/address.ts";
import type { LogRecord } from "../service/logloom.ts";

/** How a record is asked for. */
export function placeOf(id: string, ts: string) {
  return { p_id: id, ...(ts ? { p_ts: ts } : {}) };
}

/**
 * Shows a record of a list at the side, without asking for it again; its link is the address. One after another is one
 * step back.
 */
export function useOpenRecord(): (record: LogRecord) => void {
  const queries = useQueryClient();
  return useCallback((record) => {
    queries.setQueryData(["get_log", placeOf(record.id, record.ts)], record);
    const isOpen = Boolean(readAddress(location.hash).parameters.id);
    change({ id: record.id, at: record.ts }, { replace: isOpen });
  }, [queries]);
}

export function closeRecord(): void {
  change({ id: "", at: "" }, { replace: true });
}
