import { useEffect, useRef } from "react";

/** Shortcuts of a single key. They are off while somebody types or a dialog is open. */
export function useShortcuts(keys: Record<string, (event: KeyboardEvent) => void>): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const listener = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) {
        return;
      }
      const target = event.composedPath()[0];
      if (target instanceof HTMLElement && isWriting(target)) return;
      if (document.querySelector("dialog[open], [popover]:popover-open")) {
        return;
      }
      const action = latest.current[event.key];
      if (!action) return;
      event.preventDefault();
      action(event);
    };
    document.addEventListener("keydown", listener);
    return () => document.removeEventListener("keydown", listener);
  }, []);
}

function isWriting(element: HTMLElement): boolean {
  return element.isContentEditable ||
    /^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName);
}
