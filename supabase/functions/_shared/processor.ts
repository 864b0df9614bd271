import process from "node:process";

/** The function exists, but only returns a warning. */
export const isHosted = Deno.version.deno.startsWith("2.1.");

/**
 * Milliseconds of processor time (user and system) of this process; wall time if the runtime cannot tell, as on a
 * hosted project.
 */
export function processorClock(): number {
  if (isHosted) return performance.now();
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** The processor time of a piece of work. */
export function processorMs(work: () => void): number {
  const before = processorClock();
  work();
  return processorClock() - before;
}
