import { useSyncExternalStore } from "react";
import type { Zone } from "../address/range.ts";

/** Settings of this browser, which links do not carry. */
export interface Preferences {
  theme: "system" | "light" | "dark";
  zone: Zone;
  wrap: boolean;
  roomy: boolean;
  fields: boolean;
  history: string[];
  /** Whether the notes of the first visit are done. */
  knowsItsWay: boolean;
  /** The dashboard that a search was added to last. */
  lastDashboard: string;
}

const standard: Preferences = {
  theme: "system",
  zone: "local",
  wrap: false,
  roomy: false,
  fields: true,
  history: [],
  knowsItsWay: false,
  lastDashboard: "",
};
const kept = "logloom-preferences";
const listeners = new Set<() => void>();
let now = read();

function read(): Preferences {
  try {
    return { ...standard, ...JSON.parse(localStorage.getItem(kept) ?? "{}") };
  } catch {
    return standard;
  }
}

let isKept = true;

/** For a frame in another page: uses these settings and stores nothing. */
export function keepPreferencesInMemory(changes: Partial<Preferences>): void {
  isKept = false;
  now = { ...standard, ...changes };
  showTheme();
  for (const listener of listeners) listener();
}

export function prefer(changes: Partial<Preferences>): void {
  now = { ...now, ...changes };
  try {
    if (isKept) localStorage.setItem(kept, JSON.stringify(now));
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
  showTheme();
  for (const listener of listeners) listener();
}

/** Sets the page's theme. Without an attribute the system decides. */
export function showTheme(): void {
  const { dataset } = document.documentElement;
  if (now.theme === "system") delete dataset.theme;
  else dataset.theme = now.theme;
}

export function usePreferences(): Preferences {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => now,
  );
}
