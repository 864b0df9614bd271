import { change, readAddress } from "../address/address.ts";
import type { LogRecord } from "../service/logloom.ts";

let last: LogRecord | null = null;

/** The record that was opened from a list: it need not be asked for again. */
export function openedRecord(id: string): LogRecord | null {
  return last?.id === id ? last : null;
}

/** Shows a record at the side; its link is the address. One after another is one step back. */
export function openRecord(record: LogRecord): void {
  last = record;
  const isOpen = Boolean(readAddress(location.hash).parameters.id);
  change({ id: record.id, at: record.ts }, { replace: isOpen });
}

export function closeRecord(): void {
  change({ id: "", at: "" }, { replace: true });
}
