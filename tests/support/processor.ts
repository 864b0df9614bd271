import process from "node:process";

/**
 * Milliseconds of processor time, of user and system, that a piece of work takes; of time where the
 * runtime cannot tell, as the hosted one.
 */
export function processorMs(work: () => void): number {
  const now = clock();
  work();
  return clock() - now;
}

/** It has the function, which answers with nothing but a warning. */
export const isHosted = Deno.version.deno.startsWith("2.1.");

function clock(): number {
  if (isHosted) return performance.now();
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
