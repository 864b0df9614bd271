import { archiveInto, type DatabaseOptions, prepareCluster, prepareDatabase } from "./database.ts";
import { removeIfThere } from "./files.ts";
import { demo } from "./demo_tenant.ts";
import { Failure, sentence } from "./exit_on_failure.ts";
import { buildConsole, publishConsole } from "./build_console.ts";
import { endProcess, startOf } from "./process_identity.ts";
import {
  functionProcesses,
  oneOfEach,
  presentFunctions,
  type Serving,
  writePrograms,
} from "./processes/functions.ts";
import {
  accessLog,
  gatewayProcess,
  turnAccessLog,
  writeGatewayConfig,
} from "./processes/gateway.ts";
import { bucketEnv, bucketProcess, installBucket } from "./processes/bucket.ts";
import { shardOverNodes, workersOf } from "../citus/local/nodes.ts";
import { firstNode, postgresProcess, workerNodes } from "./processes/postgres.ts";
import { postgrestProcess } from "./processes/postgrest.ts";
import { shipperProcess } from "./processes/shipper.ts";
import type { Stack } from "./stack.ts";
import { newState, readState, runningState, type State, StateWriter } from "./stack_state.ts";
import { type ProcessStatus, Supervisor } from "./supervisor.ts";
import type { System } from "./system.ts";

export interface UpOptions extends DatabaseOptions {
  progress: (step: string) => void;
  /** How to serve the edge functions; by default one process of each on the current Deno. */
  serving?: Serving;
  /** The number of Citus workers. By default the number of the last start; none at the first. */
  workers?: number;
  /** Serves a bucket beside the stack, and archives into it. */
  archive?: boolean;
  /** Creates the demo tenant's key and ships the access log to it. */
  demo?: boolean;
  /** Builds the console if it changed, and serves it. */
  console?: boolean;
  /** Whether the stack runs until somebody ends it, so that ending it is not a failure. */
  isService?: boolean;
  /** Runs when the database is complete and only PostgreSQL has started. */
  afterDatabase?: () => Promise<void>;
}

export interface UpStack {
  state: State;
  /** Changes how the edge functions are served. */
  serve(serving: Serving): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts the whole stack and returns when it serves. On failure, or when a signal ends this process, everything is
 * stopped.
 */
export async function up(stack: Stack, system: System, options: UpOptions): Promise<UpStack> {
  const logs = `${stack.folder}/logs`;
  await Deno.mkdir(logs, { recursive: true, mode: 0o700 });
  await clearTheWay(stack);

  const self = { pid: Deno.pid, started: await startOf(Deno.pid) };
  const state = newState(stack, self, accessLog(system, stack));
  const writer = new StateWriter(stack);
  const publish = () => {
    state.processes = supervisor.statuses;
    return writer.write(state);
  };
  const supervisor = new Supervisor(logs, () => void publish());
  const progress = async (step: string) => {
    options.progress(step);
    state.message = step;
    await publish();
  };

  // The stack starts anyway and shows the warnings at the end.
  const warn = (warning: string) => state.warnings.push(warning);

  const serve = async (serving: Serving) => {
    const served = await presentFunctions();
    await supervisor.remove((name) => name === "gateway" || served.some((of) => isOf(of, name)));
    await writePrograms(stack, served);
    await writeGatewayConfig(system, stack, served, serving.processes);
    for (const definition of functionProcesses(stack, served, serving)) {
      await supervisor.start(definition);
    }
    await supervisor.start(gatewayProcess(system, stack));
  };

  let turning: ReturnType<typeof setInterval> | undefined;
  let stopped: Promise<void> | undefined;
  const stop = () =>
    stopped ??= (async () => {
      clearInterval(turning);
      state.status = "stopping";
      await publish();
      await supervisor.stop();
      await publish();
      await removeIfThere(stack.stateFile);
    })();

  const interrupted = new AbortController();
  const interrupt = async () => {
    interrupted.abort();
    const code = options.isService && state.status === "ready" ? 0 : 130;
    options.progress("Stopping");
    await stop();
    Deno.exit(code);
  };
  // Closing the terminal ends the stack that runs in it.
  const signals: Deno.Signal[] = ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals) Deno.addSignalListener(signal, interrupt);
  try {
    await progress("Starting PostgreSQL");
    const workers = await workersOf(system, stack, options.workers);
    state.workers = workers;
    const nodes = workerNodes(system, stack, workers);
    for (const node of [firstNode(system, stack), ...nodes]) {
      await prepareCluster(system, stack, interrupted.signal, node);
      await supervisor.start(postgresProcess(system, stack, node, workers > 0));
    }
    await progress("Applying migrations (supabase db push --remote)");
    const warning = await prepareDatabase(system, stack, interrupted.signal, options);
    if (warning) warn(warning);
    if (workers > 0) {
      await progress(`Sharding tables over ${workers} workers (Citus)`);
      await shardOverNodes(stack, nodes);
    }
    await options.afterDatabase?.();
    if (options.archive) {
      await installBucket(options.progress);
      for (const [name, value] of Object.entries(bucketEnv(stack))) Deno.env.set(name, value);
      await supervisor.start(bucketProcess(system, stack));
      await archiveInto(stack);
    }
    await progress("Starting PostgREST, functions and gateway");
    await supervisor.start(postgrestProcess(stack));
    await serve(options.serving ?? oneOfEach);
    turning = setInterval(() => {
      // While the functions change there is no gateway.
      const gateway: ProcessStatus | undefined = supervisor.statuses.gateway;
      if (gateway?.state === "ready") turnAccessLog(system, stack, gateway.pid).catch(() => {});
    }, 5_000);
    await progress("Waiting until all is healthy");
    const trouble = await becomesHealthy(stack);
    if (trouble) warn(trouble);
    if (options.console) {
      // The service works without the console.
      await buildConsole(progress, interrupted.signal).then(
        () => publishConsole(system, stack),
      ).then(
        () => state.hasConsole = true,
        (error) => warn(`There is no console: ${sentence(error)}`),
      );
    }
    if (options.demo) {
      await progress("Creating the demo tenant's key");
      state.demo = await demo(stack).catch((error) => {
        warn(`There is no demo: ${sentence(error)}`);
        return null;
      });
    }
    if (state.demo) {
      await supervisor.start(shipperProcess(stack, state.demo.apiKey, state.accessLog));
    }
  } catch (error) {
    // If a signal stopped the start, interrupt() ends this process when everything has stopped.
    if (interrupted.signal.aborted) await new Promise(() => {});
    await stop();
    throw error;
  }
  state.status = "ready";
  state.message = "";
  await publish();
  return { state, serve, stop };
}

/** Returns whether a process belongs to a function. */
function isOf(functionName: string, processName: string): boolean {
  return processName === functionName || processName.startsWith(`${functionName}-`);
}

/** Waits until the service is ready; returns its report if it is not. */
async function becomesHealthy(stack: Stack): Promise<string | null> {
  const deadline = performance.now() + 20_000;
  let answer = "";
  while (performance.now() < deadline) {
    try {
      const response = await fetch(`${stack.internalUrl}/functions/v1/health/ready`, {
        signal: AbortSignal.timeout(5_000),
      });
      answer = await response.text();
      if (response.ok) return null;
    } catch (error) {
      answer = sentence(error);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return `The service runs, but is not healthy: ${answer}`;
}

/** Ends remains of a killed supervisor. */
export async function endLeftovers(stack: Stack): Promise<void> {
  if (await runningState(stack)) {
    throw new Failure(`The ${stack.name} stack is already running; npm stop stops it.`);
  }
  const state = await readState(stack);
  if (!state) return;
  for (const process of Object.values(state.processes).toReversed()) {
    if (!(await endProcess(process, "SIGINT", 60_000))) {
      await endProcess(process, "SIGKILL", 10_000);
    }
  }
  await removeIfThere(stack.stateFile);
}

/** Checks that the stack can start: no process of an earlier one runs, and its ports are free. */
export async function clearTheWay(stack: Stack): Promise<void> {
  await endLeftovers(stack);
  refuseTakenPorts(stack);
}

function refuseTakenPorts(stack: Stack): void {
  const { functions, workers: _, ...others } = stack.ports;
  for (const [name, port] of Object.entries({ ...others, ...functions })) {
    try {
      Deno.listen({ hostname: "127.0.0.1", port }).close();
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
      throw new Failure(
        `Port ${port} (${name}) is taken by another program. ` +
          "Stop that program (for example, another project's Supabase stack) and try again.",
      );
    }
  }
}
