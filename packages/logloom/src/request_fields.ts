import { host } from "./runtime.ts";
import type { Fields } from "./types.ts";

/** The part of AsyncLocalStorage that is used here. */
export interface RequestStorage {
  getStore(): Fields | undefined;
  run<T>(fields: Fields, act: () => T): T;
}

/** Shared by all copies of this module, because each entry is bundled with its own copy. */
export function shared(): { storage?: RequestStorage } {
  const name = Symbol.for("logloom.request");
  return (host as { [name]?: { storage?: RequestStorage } })[name] ??= {};
}

/** Returns the fields of the request that a wrapper answers now. */
export function requestFields(): Fields | undefined {
  return shared().storage?.getStore();
}

/** How many characters of a path are logged, so that the other fields have room. */
const maxPath = 2000;

/** Returns the path of a request's address, without the name, password, host and query that it may have. */
export function pathOf(address: string): string {
  const [path] = address.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, "").split(/[?#]/, 1);
  return path.length > maxPath ? `${path.slice(0, maxPath)}…` : path || "/";
}
