import { type QueryKey, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { type Instants, type Range, resolve } from "../address/range.ts";

/**
 * The range as instants, the same for all requests. `again` repeats the requests, with relative times up to now. Another
 * range or question does the same.
 */
export function useInstants({ from, to }: Range, question = "") {
  const queries = useQueryClient();
  const [stamp, setStamp] = useState(() => Date.now());
  return useMemo(() => {
    const instants = resolve({ from, to }, Math.max(stamp, Date.now()));
    const again = () => {
      const next = resolve({ from, to }, Date.now());
      if (next?.from !== instants?.from || next?.to !== instants?.to) return setStamp(Date.now());
      // Answers are cached by their instants, so fixed times need a new request.
      void queries.invalidateQueries({ predicate: ({ queryKey }) => isOf(instants, queryKey) });
    };
    return { instants, again };
  }, [from, to, question, stamp, queries]);
}

/** Whether a cached answer is for these instants: its key has both. */
function isOf(instants: Instants | null, key: QueryKey): boolean {
  const values = key.flatMap((part) => Object.values(Object(part)));
  return instants !== null && values.includes(instants.from) && values.includes(instants.to);
}
