import { type ProcessIdentity, startOf } from "../../local/process_identity.ts";
import type { State } from "../../local/state.ts";
import { eventually } from "./eventually.ts";
import { stack } from "./stack.ts";

type FunctionName =
  | "ingest"
  | "health"
  | "logloom-archive"
  | "logloom-notify"
  | "logloom-read"
  | "logloom-stream";

/** Where a function has several processes, the second one is called ingest-2, for example. */
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

/** Kills a process of the stack without a word to it. */
export async function killProcess(name: ProcessName): Promise<ProcessIdentity> {
  const { pid, started } = await eventually(`${name} runs`, async () => {
    const status = (await stackState()).processes[name];
    return status && (await startOf(status.pid)) === status.started && status;
  });
  Deno.kill(pid, "SIGKILL");
  return { pid, started };
}

/** Waits until the supervisor has another process in the place of the killed one, and it serves. */
export async function isBack(name: ProcessName, killed: ProcessIdentity): Promise<void> {
  await eventually(`${name} is back`, async () => {
    const { pid, state } = (await stackState()).processes[name];
    return pid !== killed.pid && state === "ready";
  });
}

/** A part and, where several processes serve it, those beside the first. */
async function processesOf(name: ProcessName): Promise<ProcessName[]> {
  const { processes } = await stackState();
  return [name, `${name}-2`, `${name}-3`].filter((one) => one in processes) as ProcessName[];
}

/** Kills each process of a part without a word to it. What it gives waits until all are back. */
export async function killPart(name: ProcessName): Promise<() => Promise<void>> {
  const names = await processesOf(name);
  const killed = await Promise.all(names.map(killProcess));
  return async () => {
    await Promise.all(names.map((one, n) => isBack(one, killed[n])));
  };
}

/**
 * Stops every process of PostgreSQL without ending it: connections stay open, nothing answers. The
 * postmaster first, so that no child is born meanwhile; a child is one before the database lists it.
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
 * Keeps a part down, each process of it: the supervisor sleeps, so that nobody starts it again.
 * Whatever becomes of the test, the supervisor wakes after a while.
 */
export async function keepDown(name: ProcessName): Promise<AsyncDisposable> {
  const { supervisor: { pid: supervisor } } = await stackState();
  const names = await processesOf(name);
  const alarm = new Deno.Command("sh", {
    args: ["-c", `sleep 300; kill -CONT ${supervisor}`],
    stdin: "null",
    stdout: "null",
    stderr: "null",
    // A group of its own, so that its sleep ends with it.
    detached: true,
  }).spawn();
  // The alarm alone must not keep a test from ending.
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

/** Signals a process; false where it has ended. */
export function signalIfThere(pid: number, signal: Deno.Signal): boolean {
  try {
    Deno.kill(pid, signal);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
