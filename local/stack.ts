import { createHash } from "node:crypto";
import { fromFileUrl } from "./files.ts";

export const checkout = fromFileUrl(new URL("..", import.meta.url));

/** The local secret that every `supabase start` uses: it protects nothing outside this machine. */
export const jwtSecret = "super-secret-jwt-token-with-at-least-32-characters-long";

/** What the database's job shows to the function logloom-notify. It, too, protects nothing outside. */
export const notifySecret = "local-secret-of-the-function-logloom-notify";

/** Connections that PostgREST keeps; the database bounds by it what may run at once. */
export const apiPoolSize = 20;

/** Every local database role has this password, as under `supabase start`. */
export const databasePassword = "postgres";

export const stackNames = ["dev", "test", "beside", "kept", "bench", "scratch"] as const;
export type StackName = (typeof stackNames)[number];

/** The edge functions, each in a process of its own. */
export const functionNames = ["ingest", "health", "logloom-notify"] as const;
export type FunctionName = (typeof functionNames)[number];

/** Where a stack listens and what belongs to it. Nothing here depends on how the machine is set up. */
export interface Stack {
  name: StackName;
  /** Tells the stacks of several checkouts on one machine apart. */
  id: string;
  ports: {
    gateway: number;
    postgres: number;
    /** The gateway's second door, for the functions themselves: what enters there is not logged. */
    internal: number;
    postgrest: number;
    postgrestAdmin: number;
    functions: Record<FunctionName, number>;
    /** Further PostgreSQL nodes, where tables are spread over several. */
    workers: number[];
  };
  url: string;
  internalUrl: string;
  databaseUrl: string;
  adminDatabaseUrl: string;
  /** The stack's files on our side: state, keys, logs. */
  folder: string;
  stateFile: string;
}

/** Where the n-th process of a function listens, from 0 on. Hosted, there are as many as needed. */
export function functionPort(stack: Stack, name: FunctionName, n: number): number {
  if (n === 0) return stack.ports.functions[name];
  return stack.ports.internal + 10 + (n - 1) * functionNames.length + functionNames.indexOf(name);
}

/**
 * The first of what is reached from outside, and of what is not. Only the stack that people use has Supabase's own ports:
 * they lie among those that the kernel gives to outgoing connections, any of which could be in the way.
 */
const firstPorts: Record<StackName, { open: number; internal: number }> = {
  dev: { open: 54321, internal: 24321 },
  test: { open: 21321, internal: 25321 },
  beside: { open: 20321, internal: 28321 },
  kept: { open: 19321, internal: 29321 },
  bench: { open: 22321, internal: 26321 },
  scratch: { open: 23321, internal: 27321 },
};

/** So that several checkouts on one machine can run at once: each sets another multiple of 20. */
function portOffset(): number {
  return Number(Deno.env.get("LOGLOOM_PORT_OFFSET") ?? "0");
}

export function stackNamed(name: StackName): Stack {
  const first = firstPorts[name].open + portOffset();
  const internal = firstPorts[name].internal + portOffset();
  const folder = `${checkout}/.logloom/${name}`;
  const hash = createHash("sha256").update(checkout).digest("hex").slice(0, 10);
  const postgres = first + 1;
  return {
    name,
    id: `${hash}-${name}`,
    ports: {
      gateway: first,
      postgres,
      internal,
      postgrest: internal + 1,
      postgrestAdmin: internal + 2,
      functions: { ingest: internal + 3, health: internal + 4, "logloom-notify": internal + 5 },
      workers: [16, 17, 18, 19].map((place) => internal + place),
    },
    url: `http://127.0.0.1:${first}`,
    internalUrl: `http://127.0.0.1:${internal}`,
    databaseUrl: databaseUrl("postgres", postgres, "postgres"),
    adminDatabaseUrl: databaseUrl("supabase_admin", postgres, "postgres"),
    folder,
    stateFile: `${folder}/state.json`,
  };
}

export function databaseUrl(role: string, port: number, database: string): string {
  return `postgresql://${role}:${databasePassword}@127.0.0.1:${port}/${database}`;
}
