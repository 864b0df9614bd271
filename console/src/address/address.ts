import { useSyncExternalStore } from "react";

/** The screens, by the first part of the fragment: `#/keys`. Parameters alone are a search. */
export const screens = [
  "overview",
  "search",
  "dashboards",
  "alerts",
  "saved",
  "keys",
  "usage",
  "health",
  "settings",
  "members",
] as const;
export type Screen = (typeof screens)[number];

/** The state of the page for links, reload and the back button. It is never sent anywhere. */
export interface Address {
  screen: Screen;
  parameters: Record<string, string>;
}

/** The screen of an address without a fragment. */
let home: Screen = "overview";

/** `#q=level:error&from=now-1h` is the search, `#/alerts?rule=…` another screen. */
export function readAddress(hash: string): Address {
  const text = hash.replace(/^#/, "");
  const [path, rest] = text.startsWith("/")
    ? split(text.slice(1), "?")
    : [text === "" ? home : "search", text];
  const parameters = Object.fromEntries(new URLSearchParams(rest));
  // Links of before.
  if (path === "history") {
    return { screen: "alerts", parameters: { ...parameters, tab: "history" } };
  }
  return { screen: screens.find((name) => name === path) ?? "search", parameters };
}

export function writeAddress({ screen, parameters }: Address): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== "");
  const text = given.map(([name, value]) => `${name}=${encode(value)}`).join("&");
  if (text === "" && screen === home) return "#";
  if (text !== "" && screen === "search") return `#${text}`;
  return text === "" ? `#/${screen}` : `#/${screen}?${text}`;
}

/** Keeps harmless characters readable in a fragment, so that people can read a query in its link. */
function encode(value: string): string {
  return encodeURIComponent(value)
    .replaceAll("%3A", ":")
    .replaceAll("%2F", "/")
    .replaceAll("%2C", ",")
    .replaceAll("%20", "+");
}

function split(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  globalThis.addEventListener("hashchange", listener);
  globalThis.addEventListener("popstate", listener);
  return () => {
    listeners.delete(listener);
    globalThis.removeEventListener("hashchange", listener);
    globalThis.removeEventListener("popstate", listener);
  };
}

/** In a frame: the earlier places. The browser's own history belongs to the page around it. */
let earlier: string[] | null = null;

/** Keeps this page's steps out of the browser's history: a frame, which has the search alone. */
export function keepOwnHistory(): void {
  earlier = [];
  home = "search";
}

/** The place before. */
export function back(): void {
  if (earlier === null) return history.back();
  const hash = earlier.pop();
  if (hash === undefined) return;
  history.replaceState(null, "", `${location.pathname}${location.search}${hash}`);
  for (const listener of listeners) listener();
}

export function onAddress(listener: () => void): () => void {
  return subscribe(listener);
}

/** Navigates; `replace` adds no step for the back button. */
export function go(address: Address, { replace = false } = {}): void {
  const hash = writeAddress(address);
  if (hash === location.hash || (hash === "#" && location.hash === "")) return;
  const url = `${location.pathname}${location.search}${hash}`;
  if (!replace) earlier?.push(location.hash);
  if (replace || earlier) history.replaceState(null, "", url);
  else history.pushState(null, "", url);
  for (const listener of listeners) listener();
}

/** Changes some parameters of the address; an empty text removes one. */
export function change(parameters: Record<string, string>, options?: { replace?: boolean }): void {
  const now = readAddress(location.hash);
  go({ ...now, parameters: { ...now.parameters, ...parameters } }, options);
}

let last: { hash: string; address: Address } | null = null;

function current(): Address {
  if (last?.hash !== location.hash) {
    last = { hash: location.hash, address: readAddress(location.hash) };
  }
  return last.address;
}

export function useAddress(): Address {
  return useSyncExternalStore(subscribe, current);
}
