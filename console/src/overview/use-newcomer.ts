import { useEffect, useState } from "react";
import { go } from "../address/address.ts";
import { everything } from "../search/use-first-event.ts";
import { useOperation } from "../service/operation-hooks.ts";

/** Whether the tenant has no records at all. When the first one arrives, the search opens and shows it. */
export function useNewcomer(isNothing: boolean): boolean {
  const [isNew, setNew] = useState(false);
  const any = useOperation("search_logs", everything, {
    enabled: isNothing || isNew,
    every: isNew ? 2000 : false,
  });
  const record = any.data?.logs[0];
  useEffect(() => {
    if (!any.data) return;
    if (!record) return setNew(isNothing);
    if (!isNew) return;
    setNew(false);
    const [from, to] = [-15, 15].map((minutes) =>
      new Date(Date.parse(record.ts) + minutes * 60_000).toISOString()
    );
    const isRecent = Math.abs(Date.now() - Date.parse(record.ts)) < 3_000_000;
    go({ screen: "search", parameters: isRecent ? {} : { from: from ?? "", to: to ?? "" } });
  }, [any.data, record, isNew, isNothing]);
  return isNew;
}
