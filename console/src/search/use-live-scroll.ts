import { type RefObject, useEffect, useLayoutEffect, useRef } from "react";
import type { LogRecord } from "../service/logloom.ts";

/** Pauses a live view when it is scrolled away from the top, and resumes it at the top. */
export function useLiveScroll(
  scroller: RefObject<HTMLDivElement | null>,
  rows: LogRecord[],
  isLive: boolean,
  isPaused: boolean,
  onPause: (isPaused: boolean) => void,
): void {
  const held = useRef(false);
  useEffect(() => {
    const element = scroller.current;
    if (!element || !isLive) return;
    const listener = () => {
      const isAway = element.scrollTop > 40;
      if (isAway && !held.current) {
        held.current = true;
        onPause(true);
      } else if (!isAway && held.current) {
        held.current = false;
        onPause(false);
      }
    };
    element.addEventListener("scroll", listener, { passive: true });
    return () => element.removeEventListener("scroll", listener);
  }, [scroller, isLive, onPause]);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element && isLive && !isPaused && held.current) {
      held.current = false;
      element.scrollTop = 0;
    }
  }, [scroller, isLive, isPaused, rows]);
}
