import { useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { change, readAddress } from "../address/address.ts";
import type { LogRecord } from "../service/logloom.ts";

/** The parameters that load a record. */
export function placeOf(id: string, ts: string) {
  return { p_id: id, ...(ts ? { p_ts: ts } : {}) };
}

/**
 * Opens a record of the list at the side, without loading it again. The address links to it. Opening several records
 * adds only one step for the back button.
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
