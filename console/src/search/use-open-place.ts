import { type RefObject, useLayoutEffect, useRef } from "react";
import type { LogRecord } from "../service/logloom.ts";

/** An open record keeps its place on the screen when the rows around it are replaced. */
export function useOpenPlace(
  scroller: RefObject<HTMLDivElement | null>,
  rows: LogRecord[],
  /** Of the first open one; null if rows arrive by themselves. */
  index: number | null,
  startOf: (index: number) => number,
): void {
  const last = useRef<{ rows: LogRecord[]; id: string; start: number }>(null);
  useLayoutEffect(() => {
    const id = index === null ? undefined : rows[index]?.id;
    if (index === null || id === undefined) {
      last.current = null;
      return;
    }
    const start = startOf(index);
    const before = last.current;
    if (before?.id === id && before.rows !== rows && scroller.current) {
      scroller.current.scrollTop += start - before.start;
    }
    last.current = { rows, id, start };
  });
}
