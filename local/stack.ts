import { createHash } from "node:crypto";
import { functionNames } from "../packages/logloom/src/cli/guest/files.ts";
import { fromFileUrl } from "./files.ts";

export const checkout = fromFileUrl(new URL("..", import.meta.url));

/** The local secret of every `supabase start`; it protects nothing outside this machine. */
export const jwtSecret = "super-secret-jwt-token-with-at-least-32-characters-long";

/** The secret between the database's job and logloom-notify; it protects nothing outside this machine. */
export const notifySecret = "local-secret-of-the-function-logloom-notify";

/** The key that the functions seal secrets with; it protects nothing outside this machine. */
export const secretsKey = "bG9jYWwga2V5IHRoYXQgc2VhbHMgc2VjcmV0cyAhISE=";

/** The secret between the database's job and logloom-archive; it protects nothing outside this machine. */
export const archiveSecret = "local-secret-of-the-function-logloom-archive";

/** PostgREST's connections; the database limits searches by this number. */
export const apiPoolSize = 20;

/** The password of every local database role, as with `supabase start`. */
export const databasePassword = "postgres";

export const stackNames = [
  "dev",
  "test",
  "beside",
  "aside",
  "kept",
  "bench",
  "scratch",
  "drill",
  "trial",
] as const;
export type StackName = (typeof stackNames)[number];

export { functionNames };
export type FunctionName = (typeof functionNames)[number];

/** The addresses and files of a stack, independent of the machine's set-up. */
export interface Stack {
  name: StackName;
  /** A name that separates the stacks of several checkouts on one machine. */
  id: string;
  ports: {
    gateway: number;
    postgres: number;
    /** The gateway's internal port, for functions. Its requests are not logged. */
    internal: number;
    postgrest: number;
    postgrestAdmin: number;
    functions: Record<FunctionName, number>;
    /** The archive's bucket server, if there is one. */
    bucket: number;
    /** Further PostgreSQL nodes, for sharded tables. */
    workers: number[];
  };
  url: string;
  internalUrl: string;
  databaseUrl: string;
  adminDatabaseUrl: string;
  /** The stack's files: state, keys, logs. */
  folder: string;
  stateFile: string;
}

/** Returns the port of a function's n-th process, from 0. */
export function functionPort(stack: Stack, name: FunctionName, n: number): number {
  if (n === 0) return stack.ports.functions[name];
  return stack.ports.internal + 10 + (n - 1) * functionNames.length + functionNames.indexOf(name);
}

/**
 * The first public and the first internal port. Only the dev stack has Supabase's ports, because outgoing connections
 * may occupy ports in that range.
 */
const firstPorts: Record<StackName, { open: number; internal: number }> = {
  dev: { open: 54321, internal: 24321 },
  test: { open: 21321, internal: 25321 },
  beside: { open: 20321, internal: 28321 },
  aside: { open: 16321, internal: 32321 },
  kept: { open: 19321, internal: 29321 },
  bench: { open: 22321, internal: 26321 },
  scratch: { open: 23321, internal: 27321 },
  drill: { open: 18321, internal: 30321 },
  trial: { open: 17321, internal: 31321 },
};

/**
 * Returns the offset of this checkout's ports, a multiple of 40, so that several checkouts can run at the same time.
 */
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
      functions: {
        ingest: internal + 3,
        health: internal + 4,
        "logloom-archive": internal + 7,
        "logloom-notify": internal + 5,
        "logloom-read": internal + 6,
        "logloom-stream": internal + 8,
      },
      bucket: internal + 30,
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
