import process from "node:process";

/** It has the function, which answers with nothing but a warning. */
export const isHosted = Deno.version.deno.startsWith("2.1.");

/**
 * Milliseconds of processor time, of user and system, that this process has used; of time where the
 * runtime cannot tell, as the hosted one.
 */
export function processorClock(): number {
  if (isHosted) return performance.now();
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** What a piece of work takes of it. */
export function processorMs(work: () => void): number {
  const before = processorClock();
  work();
  return processorClock() - before;
}
