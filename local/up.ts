import { prepareCluster, prepareDatabase } from "./database.ts";
import { removeIfThere } from "./files.ts";
import { Failure } from "./failure.ts";
import { endProcess, startOf } from "./identity.ts";
import { functionProcesses } from "./processes/functions.ts";
import { accessLog, gatewayProcess, writeGatewayConfig } from "./processes/gateway.ts";
import { postgresProcess } from "./processes/postgres.ts";
import { postgrestProcess } from "./processes/postgrest.ts";
import type { Stack } from "./stack.ts";
import { newState, readState, StateWriter } from "./state.ts";
import { Supervisor } from "./supervisor.ts";
import type { System } from "./system.ts";

export interface UpOptions {
  progress: (step: string) => void;
  /** Runs when the database is complete and nothing but PostgreSQL runs yet. */
  afterDatabase?: () => Promise<void>;
}

export interface UpStack {
  stop(): Promise<void>;
}

/** Starts the whole stack and returns when it serves. When it cannot, nothing of it is left running. */
export async function up(stack: Stack, system: System, options: UpOptions): Promise<UpStack> {
  const logs = `${stack.folder}/logs`;
  await Deno.mkdir(logs, { recursive: true, mode: 0o700 });
  await endLeftovers(stack);
  refuseTakenPorts(stack);

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

  let stopped: Promise<void> | undefined;
  const stop = () =>
    stopped ??= (async () => {
      state.status = "stopping";
      await publish();
      await supervisor.stop();
      await removeIfThere(stack.stateFile);
    })();

  let interrupted = false;
  const interrupt = async () => {
    interrupted = true;
    await stop();
    Deno.exit(130);
  };
  const signals: Deno.Signal[] = ["SIGINT", "SIGTERM"];
  for (const signal of signals) Deno.addSignalListener(signal, interrupt);
  try {
    await progress("Starting PostgreSQL");
    await prepareCluster(system, stack);
    await supervisor.start(postgresProcess(system, stack));
    await progress("Applying migrations (supabase db push)");
    await prepareDatabase(system, stack);
    await options.afterDatabase?.();
    await progress("Starting PostgREST, functions and gateway");
    await writeGatewayConfig(system, stack);
    await supervisor.start(postgrestProcess(stack));
    for (const definition of await functionProcesses(stack)) await supervisor.start(definition);
    await supervisor.start(gatewayProcess(system, stack));
  } catch (error) {
    // Stopping is what made the start fail: the listener ends the process when all is down.
    if (interrupted) await new Promise(() => {});
    await stop();
    throw error;
  } finally {
    for (const signal of signals) Deno.removeSignalListener(signal, interrupt);
  }
  state.status = "ready";
  state.message = "";
  await publish();
  return { stop };
}

/** Ends what a supervisor left that was itself killed. */
export async function endLeftovers(stack: Stack): Promise<void> {
  const state = await readState(stack);
  if (!state) return;
  for (const process of Object.values(state.processes).toReversed()) {
    if (!(await endProcess(process, "SIGINT", 10_000))) {
      await endProcess(process, "SIGKILL", 10_000);
    }
  }
  await removeIfThere(stack.stateFile);
}

function refuseTakenPorts(stack: Stack): void {
  const { functions, ...others } = stack.ports;
  for (const [name, port] of Object.entries({ ...others, ...functions })) {
    try {
      Deno.listen({ hostname: "127.0.0.1", port }).close();
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
      throw new Failure(
        `Port ${port} (${name}) is taken by another program. ` +
          "Stop that one, a Supabase stack of another project say, and try again.",
      );
    }
  }
}
