import { type ProcessIdentity, startOf } from "../../local/process_identity.ts";
import type { State } from "../../local/stack_state.ts";
import { hasFreshConnections } from "./client.ts";
import { eventually } from "./eventually.ts";
import { stack } from "./stack.ts";

type FunctionName =
  | "ingest"
  | "health"
  | "logloom-archive"
  | "logloom-notify"
  | "logloom-read"
  | "logloom-stream";

/** A process of the stack. A function's second process is called ingest-2, for example. */
export type ProcessName =
  | "postgres"
  | `postgres-${1 | 2}`
  | "postgrest"
  | "gateway"
  | FunctionName
  | `${FunctionName}-${2 | 3}`;

export async function stackState(): Promise<State> {
  return JSON.parse(await Deno.readTextFile(stack.stateFile));
}

/** Kills a process of the stack by SIGKILL. */
export async function killProcess(name: ProcessName): Promise<ProcessIdentity> {
  const { pid, started } = await eventually(`${name} runs`, async () => {
    const status = (await stackState()).processes[name];
    return status && (await startOf(status.pid)) === status.started && status;
  });
  Deno.kill(pid, "SIGKILL");
  return { pid, started };
}

/** Waits until the supervisor has replaced the killed process, and the new one serves. */
export async function isBack(name: ProcessName, killed: ProcessIdentity): Promise<void> {
  await eventually(`${name} is back`, async () => {
    const { pid, state } = (await stackState()).processes[name];
    return pid !== killed.pid && state === "ready";
  });
  if (name === "postgres") await hasFreshConnections();
}

/** Returns the names of all processes of a part. */
async function processesOf(name: ProcessName): Promise<ProcessName[]> {
  const { processes } = await stackState();
  return [name, `${name}-2`, `${name}-3`].filter((one) => one in processes) as ProcessName[];
}

/** Kills each process of a part by SIGKILL. The returned function waits until all are back. */
export async function killPart(name: ProcessName): Promise<() => Promise<void>> {
  const names = await processesOf(name);
  const killed = await Promise.all(names.map(killProcess));
  return async () => {
    await Promise.all(names.map((one, n) => isBack(one, killed[n])));
  };
}

/**
 * Freezes every process of PostgreSQL: connections stay open, but nothing answers. The postmaster comes first, so that no
 * new child starts meanwhile.
 */
export async function freezePostgres(
  name: "postgres" | `postgres-${1 | 2}` = "postgres",
): Promise<Disposable> {
  const postmaster = (await stackState()).processes[name].pid;
  const frozen: number[] = [];
  const freeze = (pid: number) => {
    if (signalIfThere(pid, "SIGSTOP")) frozen.push(pid);
  };
  freeze(postmaster);
  for (const pid of await childrenOf(postmaster)) freeze(pid);
  return {
    [Symbol.dispose]() {
      for (const pid of frozen.splice(0)) signalIfThere(pid, "SIGCONT");
    },
  };
}

async function childrenOf(parent: number): Promise<number[]> {
  const list = await Deno.readTextFile(`/proc/${parent}/task/${parent}/children`);
  return list.split(" ").map(Number).filter((pid) => pid > 0);
}

/**
 * Keeps all processes of a part down: the supervisor is frozen, so that it cannot restart them. The supervisor wakes
 * after a while, even if the test fails.
 */
export async function keepDown(name: ProcessName): Promise<AsyncDisposable> {
  const { supervisor: { pid: supervisor } } = await stackState();
  const names = await processesOf(name);
  const alarm = new Deno.Command("sh", {
    args: ["-c", `sleep 300; kill -CONT ${supervisor}`],
    stdin: "null",
    stdout: "null",
    stderr: "null",
    // A process group, so that its `sleep` ends with it.
    detached: true,
  }).spawn();
  // The alarm must not keep the test running.
  alarm.unref();
  Deno.kill(supervisor, "SIGSTOP");
  let killed: ProcessIdentity[];
  try {
    killed = await Promise.all(names.map(killProcess));
  } catch (error) {
    Deno.kill(supervisor, "SIGCONT");
    throw error;
  }
  return {
    async [Symbol.asyncDispose]() {
      Deno.kill(supervisor, "SIGCONT");
      alarm.ref();
      Deno.kill(-alarm.pid, "SIGKILL");
      await alarm.status;
      await Promise.all(names.map((one, n) => isBack(one, killed[n])));
    },
  };
}

/** Signals a process; false if it has ended. */
export function signalIfThere(pid: number, signal: Deno.Signal): boolean {
  try {
    Deno.kill(pid, signal);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
