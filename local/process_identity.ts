/** Identifies one process: pids are reused, a pid with its start time is not. */
export interface ProcessIdentity {
  pid: number;
  started: string;
}

/** Returns the start time of a process, in the system's units; empty if there is no such process. */
export async function startOf(pid: number): Promise<string> {
  if (pid <= 0) return "";
  if (Deno.build.os === "linux") {
    const stat = await Deno.readTextFile(`/proc/${pid}/stat`).catch(() => "");
    // The program's name in brackets may contain spaces. The start time is the 20th field after it.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? "" : (fields[19] ?? "");
  }
  const { stdout } = await new Deno.Command("ps", { args: ["-o", "lstart=", "-p", `${pid}`] })
    .output();
  return new TextDecoder().decode(stdout).trim();
}

export async function isAlive(process: ProcessIdentity): Promise<boolean> {
  const started = await startOf(process.pid);
  return started !== "" && started === process.started;
}

/** Signals the process and waits until it has ended. Returns false if it has not ended in time. */
export async function endProcess(
  process: ProcessIdentity,
  signal: Deno.Signal,
  within: number,
): Promise<boolean> {
  const deadline = performance.now() + within;
  if (await isAlive(process)) Deno.kill(process.pid, signal);
  while (await isAlive(process)) {
    if (performance.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return true;
}
