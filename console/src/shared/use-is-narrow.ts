import { useCallback, useSyncExternalStore } from "react";

/** A phone's width, in CSS pixels. */
const phone = 760;

/** Whether the page is at most this wide: by default, as narrow as a phone. */
export function useIsNarrow(width = phone): boolean {
  const media = globalThis.matchMedia(`(max-width: ${width}px)`);
  const subscribe = useCallback((listener: () => void) => {
    const narrow = globalThis.matchMedia(`(max-width: ${width}px)`);
    narrow.addEventListener("change", listener);
    return () => narrow.removeEventListener("change", listener);
  }, [width]);
  return useSyncExternalStore(subscribe, () => media.matches);
}
