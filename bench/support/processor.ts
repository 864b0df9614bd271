import { readState } from "../../local/state.ts";
import type { Stack } from "../../local/stack.ts";

/** The kernel's unit of processor time. */
const ticksPerSecond = 100;

/** Seconds of processor time of each PostgreSQL of a stack so far, by process name. */
export async function processorSeconds(stack: Stack): Promise<Map<string, number>> {
  const processes = (await readState(stack))?.processes ?? {};
  const times = new Map<number, { parent: number; seconds: number }>();
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await Deno.readTextFile(`/proc/${name}/stat`).catch(() => "");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields.length < 16) continue;
    // Its own, and that of its ended children.
    const ticks = fields.slice(11, 15).reduce((sum, text) => sum + Number(text), 0);
    times.set(Number(name), { parent: Number(fields[1]), seconds: ticks / ticksPerSecond });
  }
  const seconds = new Map<string, number>();
  for (const [name, { pid }] of Object.entries(processes)) {
    if (!name.startsWith("postgres") || name === "postgrest") continue;
    let sum = times.get(pid)?.seconds ?? 0;
    for (const { parent, seconds } of times.values()) if (parent === pid) sum += seconds;
    seconds.set(name, sum);
  }
  return seconds;
}

/** The difference of two readings, by process. */
export function used(
  before: Map<string, number>,
  after: Map<string, number>,
): Map<string, number> {
  return new Map([...after].map(([name, seconds]) => [name, seconds - (before.get(name) ?? 0)]));
}

/** Seconds of processor time of one process so far. */
export async function secondsOf(pid: number): Promise<number> {
  const stat = await Deno.readTextFile(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}
