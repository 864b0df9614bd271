import { host, isForPages } from "./runtime.ts";
import type { Fields, Logger } from "./types.ts";

/** The part of AsyncLocalStorage that is used here. */
export interface RequestStorage {
  getStore(): Fields | undefined;
  run<T>(fields: Fields, act: () => T): T;
}

/** Shared by all copies of this module, because each entry is bundled with its own copy. */
export function shared(): Shared {
  const name = Symbol.for("logloom.request");
  return (host as { [name]?: Shared })[name] ??= {};
}

interface Shared {
  storage?: RequestStorage;
  /** The fields of requests and spans that have ended. What they started, such as a server, still runs with them. */
  ended?: WeakSet<Fields>;
}

/** Returns the fields of the request or span that this code runs in. Pages have none. */
export function requestFields(): Fields | undefined {
  return isForPages ? undefined : shared().storage?.getStore();
}

/** Returns the fields of the request or span that is running around this code. */
export function outerFields(): Fields | undefined {
  const fields = requestFields();
  return fields && !shared().ended?.has(fields) ? fields : undefined;
}

/** Notes that the request or span of these fields has ended. */
export function endFields(fields: Fields): void {
  (shared().ended ??= new WeakSet()).add(fields);
}

/** Runs `act` with fields that all loggers add; on pages and in Workers only the logger that it gets. */
export function runWith<T>(log: Logger, fields: Fields, act: (log: Logger) => T): T {
  const storage = isForPages ? undefined : shared().storage ??= foundStorage();
  return storage ? storage.run(fields, () => act(log)) : act(log.with(fields));
}

/** Node's AsyncLocalStorage, which a file that also runs elsewhere cannot import. */
function foundStorage(): RequestStorage | undefined {
  const { AsyncLocalStorage } = host.process?.getBuiltinModule?.("node:async_hooks") ?? {};
  return AsyncLocalStorage && new AsyncLocalStorage();
}

/** How many characters of a path are logged, so that the other fields have room. */
const maxPath = 2000;

/** Returns the path of a request's address, without the name, password, host and query that it may have. */
export function pathOf(address: string): string {
  const [path] = address.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, "").split(/[?#]/, 1);
  return path.length > maxPath ? `${path.slice(0, maxPath)}…` : path || "/";
}
