import process from "node:process";

// Only for tests and measurements: hosted functions cannot read their processor time.

/** On Deno 2.1 `process.cpuUsage` only prints a warning. */
const hasNoUsage = Deno.version.deno.startsWith("2.1.");

const cell = new Int32Array(new SharedArrayBuffer(4));

/** Milliseconds of processor time that this process has used; on Deno 2.1, this thread. */
export function processorClock(): number {
  if (hasNoUsage) {
    // Linux updates a thread's processor time when the thread rests.
    Atomics.wait(cell, 0, 0, 0.01);
    const [nanoseconds] = Deno.readTextFileSync("/proc/thread-self/schedstat").split(" ");
    return Number(nanoseconds) / 1e6;
  }
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Milliseconds of processor time that a piece of work takes. */
export function processorMs(work: () => void): number {
  const before = processorClock();
  work();
  return processorClock() - before;
}
