/** A global of hosted edge functions. */
declare const EdgeRuntime: { waitUntil(work: Promise<void>): void } | undefined;

/** Keeps a hosted isolate alive until work that goes on after the answer is done. */
export function keepAlive(work: Promise<void>): void {
  if (typeof EdgeRuntime !== "undefined") EdgeRuntime.waitUntil(work);
}
