import { BoundedLog } from "./bounded_log.ts";
import { Failure } from "./exit_on_failure.ts";
import { type ProcessIdentity, startOf } from "./process_identity.ts";
import { signalIfRunning } from "./process_output.ts";

/** One process of the stack. The file with its name in local/processes defines it. */
export interface ProcessDefinition {
  name: string;
  command: string[];
  /** The command of a restart after a crash, if it differs. */
  restartCommand?: string[];
  env: Record<string, string>;
  dependsOn: string[];
  /** Ends leftovers of a killed process that block the next one. */
  clear?(): Promise<void>;
  /** Checks once whether the process serves. */
  ready(): Promise<boolean>;
  /** The signal for an orderly end. */
  stopSignal: Deno.Signal;
}

export interface ProcessStatus extends ProcessIdentity {
  state: "starting" | "ready" | "restarting" | "stopped";
  restarts: number;
}

/** PostgreSQL may have to recover from a crash first. */
const readyWithin = 120_000;
const stoppedWithin = 20_000;
const probeEvery = 50;
const shortestBackOff = 100;
const longestBackOff = 5_000;
/** After running this long, the next crash counts as the first. */
const wellAfter = 10_000;

/** Starts processes in the order of their dependencies, keeps them running, and stops them in reverse. */
export class Supervisor {
  readonly #running: Running[] = [];
  readonly #logFolder: string;
  readonly #changed: () => void;
  #isStopping = false;

  constructor(logFolder: string, changed: () => void) {
    this.#logFolder = logFolder;
    this.#changed = changed;
  }

  get statuses(): Record<string, ProcessStatus> {
    return Object.fromEntries(this.#running.map((process) => [process.name, process.status]));
  }

  /** Starts a process after its dependencies, and returns when it serves. */
  async start(definition: ProcessDefinition): Promise<void> {
    for (const needed of definition.dependsOn) {
      if (!this.#running.some((process) => process.name === needed)) {
        throw new Error(`${definition.name} was started before ${needed}`);
      }
    }
    const log = await BoundedLog.open(`${this.#logFolder}/${definition.name}.log`);
    // A process that started while the others stop would be left running.
    if (this.#isStopping) {
      log.close();
      throw stopsAlready(definition.name);
    }
    const process = new Running(definition, log, this.#changed);
    this.#running.push(process);
    await process.start();
  }

  /** Stops processes for good, the last first. */
  async remove(isMeant: (name: string) => boolean): Promise<void> {
    for (const process of this.#running.filter(({ name }) => isMeant(name)).toReversed()) {
      await process.stop();
      this.#running.splice(this.#running.indexOf(process), 1);
    }
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    for (const process of this.#running.toReversed()) await process.stop();
  }
}

function stopsAlready(name: string): Failure {
  return new Failure(`${name} was not started, because the stack stops.`);
}

class Running {
  readonly name: string;
  readonly #definition: ProcessDefinition;
  readonly #log: BoundedLog;
  readonly #changed: () => void;
  #child: Deno.ChildProcess | undefined;
  #ended: Promise<void> = Promise.resolve();
  #stopping = false;
  #backOff = shortestBackOff;
  #wake = () => {};
  #guard: Promise<void> | undefined;
  status: ProcessStatus = { pid: 0, started: "", state: "starting", restarts: 0 };

  constructor(definition: ProcessDefinition, log: BoundedLog, changed: () => void) {
    this.name = definition.name;
    this.#definition = definition;
    this.#log = log;
    this.#changed = changed;
  }

  async start(): Promise<void> {
    await this.#definition.clear?.();
    if (this.#stopping) throw stopsAlready(this.name);
    await this.#spawn();
    if (!(await this.#becomesReady(readyWithin))) {
      if (!this.#child) await this.#ended;
      const words = this.#log.lastLine;
      throw new Failure(
        `${this.name} did not start${words ? `: ${words}` : "."} (see ${this.#log.path})`,
      );
    }
    this.#set("ready");
    this.#guard = this.#keepRunning();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#wake();
    if (this.#child) {
      this.#signal(this.#definition.stopSignal);
      const late = setTimeout(() => this.#signal("SIGKILL"), stoppedWithin);
      await this.#ended;
      clearTimeout(late);
    }
    await this.#guard;
    this.#set("stopped");
    this.#log.close();
  }

  async #spawn(): Promise<void> {
    const { command, restartCommand } = this.#definition;
    const [program, ...args] = this.status.restarts > 0 ? restartCommand ?? command : command;
    const child = new Deno.Command(program, {
      args,
      env: { PATH: Deno.env.get("PATH") ?? "/usr/bin:/bin", ...this.#definition.env },
      clearEnv: true,
      cwd: "/",
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
      // The process gets its own session. So Ctrl-C reaches only the supervisor, which stops everything in order.
      detached: true,
    }).spawn();
    this.#child = child;
    this.status.pid = child.pid;
    this.status.started = await startOf(child.pid);
    this.#changed();
    const output = Promise.all([this.#log.take(child.stdout), this.#log.take(child.stderr)]);
    this.#ended = child.status.then(async ({ code, signal }) => {
      this.#child = undefined;
      // A remaining child, for example a worker of a killed nginx, would hold its port.
      this.#killGroup(child.pid);
      // Reads the rest of the output, but only for a moment, because an orphan may keep it open.
      await Promise.race([output, new Promise((resolve) => setTimeout(resolve, 500))]);
      if (!this.#stopping) this.#log.write(`-- ${this.name} ended (${signal ?? `code ${code}`})\n`);
    });
  }

  async #becomesReady(within: number): Promise<boolean> {
    const deadline = performance.now() + within;
    while (performance.now() < deadline && this.#child && !this.#stopping) {
      // A request to a process that is ending may wait forever.
      const hasEnded = this.#ended.then(() => false);
      const serves = this.#definition.ready().catch(() => false);
      if (await Promise.race([serves, hasEnded])) return this.#child !== undefined;
      await this.#pause(probeEvery);
    }
    return false;
  }

  async #keepRunning(): Promise<void> {
    while (!this.#stopping) {
      const since = performance.now();
      await this.#ended;
      if (this.#stopping) return;
      if (performance.now() - since > wellAfter) this.#backOff = shortestBackOff;
      this.status.restarts += 1;
      this.#set("restarting");
      await this.#pause(this.#backOff);
      await this.#definition.clear?.();
      if (this.#stopping) return;
      this.#backOff = Math.min(this.#backOff * 2, longestBackOff);
      try {
        await this.#spawn();
      } catch (error) {
        this.#log.write(`-- ${this.name} could not be started: ${error}\n`);
        continue;
      }
      if (await this.#becomesReady(Infinity)) this.#set("ready");
    }
  }

  #pause(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #signal(signal: Deno.Signal): void {
    if (this.#child) signalIfRunning(this.#child, signal);
  }

  #killGroup(pid: number): void {
    try {
      Deno.kill(-pid, "SIGKILL");
    } catch {
      // No process of the group was left.
    }
  }

  #set(state: ProcessStatus["state"]): void {
    this.status.state = state;
    this.#changed();
  }
}
