import type { Demo } from "./demo_tenant.ts";
import { replaceFile } from "./files.ts";
import { isAlive, type ProcessIdentity } from "./process_identity.ts";
import { anonKey, serviceRoleKey } from "./signing_keys.ts";
import { jwtSecret, type Stack, type StackName } from "./stack.ts";
import type { ProcessStatus } from "./supervisor.ts";

/** The stack's state for commands, tests and people. */
export interface State {
  name: StackName;
  status: "starting" | "ready" | "stopping" | "failed";
  /** The current step of the start, or the reason for its failure. */
  message: string;
  supervisor: ProcessIdentity;
  url: string;
  databaseUrl: string;
  adminDatabaseUrl: string;
  anonKey: string;
  serviceRoleKey: string;
  jwtSecret: string;
  accessLog: string;
  logs: string;
  /** Nodes beside the coordinator, 0 for a single server. */
  workers: number;
  demo: Demo | null;
  /** Whether the gateway serves the console. */
  hasConsole: boolean;
  warnings: string[];
  processes: Record<string, ProcessStatus>;
}

export async function readState(stack: Stack): Promise<State | null> {
  try {
    return JSON.parse(await Deno.readTextFile(stack.stateFile)) as State;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Returns the state of a stack with a running supervisor. */
export async function runningState(stack: Stack): Promise<State | null> {
  const state = await readState(stack);
  return state && (await isAlive(state.supervisor)) ? state : null;
}

export function newState(stack: Stack, supervisor: ProcessIdentity, accessLog: string): State {
  return {
    name: stack.name,
    status: "starting",
    message: "",
    supervisor,
    url: stack.url,
    databaseUrl: stack.databaseUrl,
    adminDatabaseUrl: stack.adminDatabaseUrl,
    anonKey,
    serviceRoleKey,
    jwtSecret,
    accessLog,
    logs: `${stack.folder}/logs`,
    workers: 0,
    demo: null,
    hasConsole: false,
    warnings: [],
    processes: {},
  };
}

/** Writes states one at a time. The last state is always written. */
export class StateWriter {
  #last: Promise<void> = Promise.resolve();
  readonly #path: string;

  constructor(stack: Stack) {
    this.#path = stack.stateFile;
  }

  write(state: State): Promise<void> {
    const text = `${JSON.stringify(state, null, 2)}\n`;
    this.#last = this.#last.catch(() => {}).then(() => replaceFile(this.#path, text));
    return this.#last;
  }
}
