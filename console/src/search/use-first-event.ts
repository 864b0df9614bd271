import { useEffect, useState } from "react";
import { change } from "../address/address.ts";
import { useOperation } from "../service/operation-hooks.ts";
import type { LogRecord } from "../service/logloom.ts";
import type { Run } from "./search-run.ts";

const minute = 60_000;

/** A search over the longest retention and the furthest accepted future. */
export const everything = { p_query_dsl: "", p_ts_from: "now-366d", p_ts_to: "now+2d", p_limit: 1 };

/**
 * When a search found nothing, checks whether the tenant has any records. Keeps checking until the first one arrives and
 * then shows it. If it arrived just after the search, the search runs again, once.
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

/** Shows the first record: drops a query or range that would hide it. */
function show(record: LogRecord, run: Run & { again: () => void }): void {
  const time = Date.parse(record.ts);
  if (!isAfterStart(record, run) || time > Date.now()) {
    const [from, to] = [time - 15 * minute, time + 15 * minute];
    change({ q: "", from: new Date(from).toISOString(), to: new Date(to).toISOString() });
  } else if (run.query !== "") change({ q: "" });
  else run.again();
}
