import type { State } from "../../local/state.ts";

/**
 * Proportional memory of each process of the stack with its children, in MiB. Pss_Anon excludes PostgreSQL's shared
 * memory, which fills up to its limit.
 */
export async function memory(
  state: State,
  kind: "Pss" | "Pss_Anon" = "Pss",
): Promise<Map<string, number>> {
  const children = await childrenByParent();
  const result = new Map<string, number>();
  for (const [name, process] of Object.entries(state.processes)) {
    let kilobytes = 0;
    const pending = [process.pid];
    while (pending.length > 0) {
      const pid = pending.pop()!;
      kilobytes += await proportionalSize(pid, kind);
      pending.push(...(children.get(pid) ?? []));
    }
    result.set(name, kilobytes / 1024);
  }
  return result;
}

async function childrenByParent(): Promise<Map<number, number[]>> {
  const children = new Map<number, number[]>();
  for await (const entry of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(entry.name)) continue;
    const stat = await Deno.readTextFile(`/proc/${entry.name}/stat`).catch(() => "");
    const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(entry.name)]);
  }
  return children;
}

async function proportionalSize(pid: number, kind: string): Promise<number> {
  const text = await Deno.readTextFile(`/proc/${pid}/smaps_rollup`).catch(() => "");
  return Number(new RegExp(`^${kind}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? 0);
}
