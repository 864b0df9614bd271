import type { State } from "../../local/stack_state.ts";
import { sumByProcess } from "./processor.ts";

/** Returns the proportional memory of each process of the stack with its children, in MiB. */
export function memory(state: State): Promise<Map<string, number>> {
  return sumByProcess(state.processes, async (pid) => {
    const text = await Deno.readTextFile(`/proc/${pid}/smaps_rollup`).catch(() => "");
    return Number(/^Pss:\s+(\d+)/m.exec(text)?.[1] ?? 0) / 1024;
  });
}
