import { useSyncExternalStore } from "react";
import type { Zone } from "../address/range.ts";

/** Preferences of this browser, not part of a link. */
export interface Preferences {
  theme: "system" | "light" | "dark";
  zone: Zone;
  wrap: boolean;
  roomy: boolean;
  fields: boolean;
  history: string[];
  /** Whether the notes of a first visit are over. */
  knowsItsWay: boolean;
}

const standard: Preferences = {
  theme: "system",
  zone: "local",
  wrap: false,
  roomy: false,
  fields: true,
  history: [],
  knowsItsWay: false,
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

/** Uses these and stores nothing: a frame in a page of somebody else. */
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
    // A browser without storage still uses the choice until it is closed.
  }
  showTheme();
  for (const listener of listeners) listener();
}

/** The theme is an attribute of the page; without one the system decides. */
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
