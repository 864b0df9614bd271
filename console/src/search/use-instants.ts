import { type QueryKey, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { type Instants, type Range, resolve } from "../address/range.ts";

/**
 * A range as instants, the same for all that is asked of it, and `again`, which asks it all anew: relative times up to
 * now. So does another range or question.
 */
export function useInstants({ from, to }: Range, question = "") {
  const queries = useQueryClient();
  const [stamp, setStamp] = useState(() => Date.now());
  return useMemo(() => {
    const instants = resolve({ from, to }, Math.max(stamp, Date.now()));
    const again = () => {
      const next = resolve({ from, to }, Date.now());
      if (next?.from !== instants?.from || next?.to !== instants?.to) return setStamp(Date.now());
      // Answers are kept by their instants: those of fixed times would be shown once more.
      void queries.invalidateQueries({ predicate: ({ queryKey }) => isOf(instants, queryKey) });
    };
    return { instants, again };
  }, [from, to, question, stamp, queries]);
}

/** Whether an answer was asked for them: its key has both, as parameters or by themselves. */
function isOf(instants: Instants | null, key: QueryKey): boolean {
  const values = key.flatMap((part) => Object.values(Object(part)));
  return instants !== null && values.includes(instants.from) && values.includes(instants.to);
}
