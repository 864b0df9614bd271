import { useSyncExternalStore } from "react";

/** The screens, named by the first part of the fragment: `#/keys`. Parameters without a path are a search. */
export const screens = [
  "overview",
  "search",
  "dashboards",
  "errors",
  "alerts",
  "saved",
  "keys",
  "usage",
  "health",
  "settings",
  "members",
] as const;
export type Screen = (typeof screens)[number] | "unknown";

/** The page's state, in the fragment for links, reload and the back button. Browsers never send a fragment. */
export interface Address {
  screen: Screen;
  parameters: Record<string, string>;
}

/** The screen if there is no fragment. */
let home: Screen = "overview";

/** `#q=level:error&from=now-1h` is the search, `#/alerts?rule=…` another screen. */
export function readAddress(hash: string): Address {
  const text = hash.replace(/^#/, "");
  const [path, rest] = text.startsWith("/")
    ? split(text.slice(1), "?")
    : [text === "" ? home : "search", text];
  const parameters = Object.fromEntries(new URLSearchParams(rest));
  // Older links.
  if (path === "history") {
    return { screen: "alerts", parameters: { ...parameters, tab: "history" } };
  }
  const screen = path === "" ? "search" : screens.find((name) => name === path) ?? "unknown";
  return { screen, parameters };
}

export function writeAddress({ screen, parameters }: Address): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== "");
  const text = given.map(([name, value]) => `${name}=${encode(value)}`).join("&");
  if (text === "" && screen === home) return "#";
  if (text !== "" && screen === "search") return `#${text}`;
  return text === "" ? `#/${screen}` : `#/${screen}?${text}`;
}

/** Leaves harmless characters unescaped, so that people can read the query in a link. */
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

/**
 * The history of fragments while the page is in a frame, because the browser's history belongs to the page around it;
 * otherwise null.
 */
let earlier: string[] | null = null;

/** For a frame, which has only the search: keeps its steps out of the browser's history. */
export function keepOwnHistory(): void {
  earlier = [];
  home = "search";
}

let openDialogs = 0;
/** Whether the step back of a closed dialog is under way. It must not close a dialog that opened meanwhile. */
let isLeaving = false;
const dialogsOf = (state: unknown): number => Object(state).dialogs ?? 0;

/** Lets the back button close a dialog. `onBack` returns false if it must stay. Call the result once it is closed. */
export function openDialog(onBack: () => boolean): () => void {
  // In a frame the history belongs to the outer page.
  if (earlier !== null) return () => {};
  const dialogs = ++openDialogs;
  const push = () => history.pushState({ dialogs }, "", location.href);
  const listener = () => {
    if (dialogsOf(history.state) >= dialogs) return;
    if (isLeaving || !onBack()) push();
  };
  if (dialogsOf(history.state) < dialogs) push();
  globalThis.addEventListener("popstate", listener);
  return () => {
    globalThis.removeEventListener("popstate", listener);
    openDialogs -= 1;
    // Another dialog may open at once and use the same history entry.
    setTimeout(() => {
      if (dialogsOf(history.state) <= openDialogs) return;
      isLeaving = true;
      const end = () => setTimeout(() => isLeaving = false);
      globalThis.addEventListener("popstate", end, { once: true });
      history.back();
    });
  };
}

/** Goes one step back. */
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

/** Navigates. With `replace` the back button gets no new step. */
export function go(address: Address, { replace = false } = {}): void {
  const hash = writeAddress(address);
  if (hash === location.hash || (hash === "#" && location.hash === "")) return;
  const url = `${location.pathname}${location.search}${hash}`;
  if (!replace) earlier?.push(location.hash);
  if (replace || earlier || dialogsOf(history.state) > 0) history.replaceState(null, "", url);
  else history.pushState(null, "", url);
  for (const listener of listeners) listener();
}

/** Changes some parameters of the address. An empty text removes a parameter. */
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
