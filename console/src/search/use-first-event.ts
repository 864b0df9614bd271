import { useEffect, useState } from "react";
import { change } from "../address/address.ts";
import { useOperation } from "../service/hooks.ts";
import type { LogRecord } from "../service/logloom.ts";
import type { Run } from "./use-search.ts";

const minute = 60_000;

/** The longest retention, and the furthest accepted time ahead. */
export const everything = { p_query_dsl: "", p_ts_from: "now-366d", p_ts_to: "now+2d", p_limit: 1 };

/**
 * Whether the tenant has no records: asked when a search found nothing, and again until the first one arrives, which is
 * then shown. If it arrives between the search and the question, the search runs again, once.
 */
export function useFirstEvent(run: Run & { again: () => void }, isNothing: boolean) {
  const [known, setKnown] = useState<"nothing" | "empty" | "used">("nothing");
  const any = useOperation("search_logs", everything, {
    enabled: isNothing && known !== "used",
    every: known === "empty" ? 2000 : false,
  });
  const page = any.data;
  useEffect(() => {
    if (!isNothing || !page || known === "used") return;
    const [record] = page.logs;
    if (!record) return setKnown("empty");
    setKnown("used");
    if (known === "empty") show(record, run);
    else if (isAfterStart(record, run)) run.again();
  }, [isNothing, page, known, run]);
  return {
    isEmpty: isNothing && known === "empty",
    isUnknown: isNothing && known === "nothing" && !any.error,
  };
}

const isAfterStart = ({ ts }: LogRecord, { instants }: Run) =>
  instants !== null && Date.parse(ts) >= Date.parse(instants.from);

/** We promised to show it: a query or range that excludes it is dropped. */
function show(record: LogRecord, run: Run & { again: () => void }): void {
  const time = Date.parse(record.ts);
  if (!isAfterStart(record, run) || time > Date.now()) {
    const [from, to] = [time - 15 * minute, time + 15 * minute];
    change({ q: "", from: new Date(from).toISOString(), to: new Date(to).toISOString() });
  } else if (run.query !== "") change({ q: "" });
  else run.again();
}
