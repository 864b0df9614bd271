import { checkout } from "../stack.ts";

/** By which doors an operation can be called. */
export interface Doors {
  readonly operation: string;
  readonly user: boolean;
  /** With an API key, or a user's token, at `logloom-read`. */
  readonly key: boolean;
  /** By an OAuth client that is not listed. */
  readonly client: boolean;
  /** By a user with the role viewer, whose view names it. */
  readonly viewer: boolean;
  /** With the token of a portal session, whose view names it, at `logloom-read`. */
  readonly session: boolean;
  readonly service: boolean;
}

/** The page with a table of them. */
export const doorsFile = `${checkout}/docs/reference/api/doors.md`;

const schemas = `${checkout}/supabase/schemas`;

/** A user makes a tenant for themselves, and goes to another one. */
const forUsersAlone = ["create_tenant", "switch_log_tenant"];

/** What a viewer may do by RPC alone: what concerns them, and dashboards to look at. */
export const viewersByRpc = [
  "get_log_dashboard",
  "list_log_dashboards",
  "list_log_tenants",
  "switch_log_tenant",
];

/** Of every operation, from the lists and signatures in `supabase/schemas`. */
export async function allDoors(): Promise<Doors[]> {
  const operations = await namesIn("foundations/operations.sql", /^ {2}'(\w+)'/gm);
  const internal = await namesIn("foundations/service_operations.sql", /^ {2}'(\w+)'/gm);
  const reading = await namesIn("reading/reading_operations.sql", /^ {6}\('(\w+)',/gm);
  const forTenants = await takingTenants(schemas);
  return operations.map((operation) => ({
    operation,
    user: !internal.includes(operation),
    key: reading.includes(operation),
    client: reading.includes(operation),
    viewer: reading.includes(operation) || viewersByRpc.includes(operation),
    session: reading.includes(operation),
    service: internal.includes(operation) ||
      forTenants.includes(operation) && !forUsersAlone.includes(operation),
  }));
}

async function namesIn(file: string, name: RegExp): Promise<string[]> {
  const text = await Deno.readTextFile(`${schemas}/${file}`);
  return [...text.matchAll(name)].map(([, found]) => found);
}

/** The functions in public that take `p_tenant_id`: `service_role` has to give it. */
async function takingTenants(folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) found.push(...await takingTenants(path));
    if (!name.endsWith(".sql")) continue;
    const text = await Deno.readTextFile(path);
    const functions = text.matchAll(/^create function public\.(\w+)\(([^;]*?)\)\nreturns/gm);
    for (const [, operation, parameters] of functions) {
      if (parameters.includes("p_tenant_id")) found.push(operation);
    }
  }
  return found;
}

const marker = "<!-- doors -->";

/** The page with the current table between its two markers. */
export function pageOfDoors(page: string, all: readonly Doors[]): string {
  const parts = page.split(marker);
  if (parts.length !== 3) {
    throw new Error(`docs/reference/api/doors.md has not two marks ${marker}`);
  }
  const mark = (isOpen: boolean) => isOpen ? "yes" : "";
  const table = [
    "| operation | user | key | client | viewer | session | `service_role` |",
    "| --- | --- | --- | --- | --- | --- | --- |",
    ...all.map(({ operation, user, key, client, viewer, session, service }) => {
      const doors = [user, key, client, viewer, session, service].map(mark);
      return `| \`${operation}\` | ${doors.join(" | ")} |`;
    }),
  ].join("\n");
  return [parts[0], `\n\n${table}\n\n`, parts[2]].join(marker);
}
