import { useCallback, useSyncExternalStore } from "react";

const widths = {
  /** A phone's. */
  phone: "(max-width: 760px)",
  /** Where the links to all screens do not fit into the bar. */
  links: "(max-width: 1200px)",
};

/** Whether the page is as narrow as that. */
export function useIsNarrow(width: keyof typeof widths = "phone"): boolean {
  const subscribe = useCallback((listener: () => void) => {
    const media = globalThis.matchMedia(widths[width]);
    media.addEventListener("change", listener);
    return () => media.removeEventListener("change", listener);
  }, [width]);
  return useSyncExternalStore(subscribe, () => globalThis.matchMedia(widths[width]).matches);
}
