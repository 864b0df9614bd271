import process from "node:process";

// For tests and measurements alone: hosted functions have no clock of the processor.

/** Deno 2.1 has the function, which answers with nothing but a warning. */
const hasNoUsage = Deno.version.deno.startsWith("2.1.");

const cell = new Int32Array(new SharedArrayBuffer(4));

/** Milliseconds of processor time that this process has used; on Deno 2.1, this thread. */
export function processorClock(): number {
  if (hasNoUsage) {
    // Linux counts what a thread has used when it rests.
    Atomics.wait(cell, 0, 0, 0.01);
    const [nanoseconds] = Deno.readTextFileSync("/proc/thread-self/schedstat").split(" ");
    return Number(nanoseconds) / 1e6;
  }
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** What a piece of work takes of it. */
export function processorMs(work: () => void): number {
  const before = processorClock();
  work();
  return processorClock() - before;
}
