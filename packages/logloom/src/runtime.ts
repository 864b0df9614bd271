/** Parts of the global object that only some runtimes have. */
export interface Host {
  readonly console: Pick<Console, "debug" | "log" | "info" | "warn" | "error">;
  readonly document?: { visibilityState: string; addEventListener: Listen };
  readonly process?: {
    on: (event: string, listener: (...args: never[]) => unknown) => unknown;
    off: (event: string, listener: (...args: never[]) => unknown) => unknown;
    listenerCount: (event: string) => number;
    exit(code: number): never;
    readonly pid: number;
    readonly stdout?: { readonly isTTY?: boolean };
    kill(pid: number, signal: string): unknown;
    getBuiltinModule?: (name: "node:async_hooks") => {
      AsyncLocalStorage: new <T>() => {
        getStore(): T | undefined;
        run<R>(store: T, act: () => R): R;
      };
    } | undefined;
    prependListener?: (event: string, listener: () => unknown) => unknown;
  };
  readonly Deno?: { unrefTimer(timer: unknown): void };
  readonly EdgeRuntime?: { waitUntil?: WaitUntil };
  readonly addEventListener?: Listen;
}

type Listen = (
  event: string,
  listener: (event: never) => unknown,
  until?: { signal: AbortSignal },
) => void;

/** Keeps the runtime alive until a promise settles. */
export type WaitUntil = (promise: Promise<unknown>) => void;

export const host: Host = globalThis as unknown as Host;

declare const LOGLOOM_IS_PAGE: boolean | undefined;

/** True in the build for pages, which leaves out what only servers use. */
export const isForPages: boolean = typeof LOGLOOM_IS_PAGE === "boolean";

/** Whether the program runs in a browser's page. */
export const isPage: boolean = host.document !== undefined;

/** The process of a server's program; undefined on pages. */
export const server: Host["process"] = isForPages || isPage ? undefined : host.process;

/** The runtime's own function, before anything replaced it. */
export const warn: (text: string) => void = host.console.warn.bind(host.console);
export const showError: (error: unknown) => void =
  /* @__PURE__ */ (() => host.console.error.bind(host.console))();

/** Cuts a text where a key begins. */
export const withoutKey = (text: string): string => text.replace(/(?:ll\w?|sb)_[^]*/, "…");

/** Starts a timer that does not keep the program alive. */
export function later(act: () => void, ms: number): ReturnType<typeof setTimeout> {
  const timer: unknown = setTimeout(act, ms);
  if (isForPages) return timer as ReturnType<typeof setTimeout>;
  if (typeof timer === "object") (timer as { unref?: () => void }).unref?.();
  else host.Deno?.unrefTimer(timer);
  return timer as ReturnType<typeof setTimeout>;
}

/** Calls `waitUntil` of Supabase's edge functions or of Vercel, whose EdgeRuntime is a text. */
export function foundWaitUntil(promise: Promise<unknown>): void {
  host.EdgeRuntime?.waitUntil?.(promise);
  (globalThis as Record<symbol, { get?: () => { waitUntil?: WaitUntil } } | undefined>)[
    Symbol.for("@vercel/request-context")
  ]?.get?.()?.waitUntil?.(promise);
}
