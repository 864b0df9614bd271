import { readState, type State } from "../../local/stack_state.ts";
import type { Stack } from "../../local/stack.ts";

/** The kernel's unit of the processor time of ended children. */
const ticksPerSecond = 100;

/** Returns the processor time of each PostgreSQL of a stack so far, in seconds by process name. */
export async function processorSeconds(stack: Stack): Promise<Map<string, number>> {
  return new Map(
    [...await secondsByProcess(stack)]
      .filter(([name]) => name.startsWith("postgres") && name !== "postgrest"),
  );
}

/** Returns the processor time of each process of a stack with its children so far, in seconds by name. */
export async function secondsByProcess(stack: Stack): Promise<Map<string, number>> {
  return await sumByProcess(
    (await readState(stack))?.processes ?? {},
    async (pid) => await secondsOf(pid) + await secondsOfEndedChildren(pid),
  );
}

/** Returns the sum over each process and its living children, by name. */
export async function sumByProcess(
  processes: State["processes"],
  measure: (pid: number) => Promise<number>,
): Promise<Map<string, number>> {
  const children = new Map<number, number[]>();
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const parent = Number((await statOf(Number(name)))[1]);
    children.set(parent, [...children.get(parent) ?? [], Number(name)]);
  }
  const sums = new Map<string, number>();
  for (const [name, { pid }] of Object.entries(processes)) {
    let sum = 0;
    const pending = [pid];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      sum += await measure(next);
      pending.push(...children.get(next) ?? []);
    }
    sums.set(name, sum);
  }
  return sums;
}

/** Returns the processor time of the stack's processes and of this one, the client, so far, in seconds. */
export async function secondsWithClient(stack: Stack): Promise<Map<string, number>> {
  return new Map([["client", await secondsOf(Deno.pid)], ...await secondsByProcess(stack)]);
}

/** Returns the difference of two readings, by process. */
export function used(before: Map<string, number>, after: Map<string, number>): Map<string, number> {
  return new Map([...after].map(([name, seconds]) => [name, seconds - (before.get(name) ?? 0)]));
}

/** Returns the processor time of one process so far in seconds, with nanoseconds if the kernel has them. */
export async function secondsOf(pid: number): Promise<number> {
  let nanoseconds = 0;
  try {
    for await (const { name } of Deno.readDir(`/proc/${pid}/task`)) {
      const text = await Deno.readTextFile(`/proc/${pid}/task/${name}/schedstat`);
      nanoseconds += Number(text.split(" ")[0]);
    }
  } catch {
    // The process ended meanwhile.
  }
  return nanoseconds / 1e9;
}

async function secondsOfEndedChildren(pid: number): Promise<number> {
  const fields = await statOf(pid);
  return (Number(fields[13] ?? 0) + Number(fields[14] ?? 0)) / ticksPerSecond;
}

/** Returns the fields of /proc/PID/stat from the process's state on. */
async function statOf(pid: number): Promise<string[]> {
  const stat = await Deno.readTextFile(`/proc/${pid}/stat`).catch(() => "");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}
