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
