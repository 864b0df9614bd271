import { checkout } from "../stack.ts";
import { formatted } from "./record_fields.ts";

/** Who can call an operation. */
export interface Callers {
  readonly operation: string;
  readonly user: boolean;
  /** An API key or a user's token, at `logloom-read`. */
  readonly key: boolean;
  /** An OAuth client that is not listed. */
  readonly client: boolean;
  /** A user with the role viewer, if the view names the operation. */
  readonly viewer: boolean;
  /** A portal session's token, if its view or its parts name the operation, at `logloom-read`. */
  readonly session: boolean;
  readonly service: boolean;
  /** At `logloom-read` only portal sessions whose parts name the operation. */
  readonly customer: boolean;
}

const listFile = `${checkout}/supabase/schemas/foundations/operations.sql`;
const pageFile = `${checkout}/docs/reference/api/callers.md`;
const moduleFile = `${checkout}/supabase/functions/logloom-read/operations.ts`;

/** Returns the callers of every operation, from the list in `supabase/schemas`. */
export async function allCallers(): Promise<Callers[]> {
  const list = await Deno.readTextFile(listFile);
  const rows = list.matchAll(
    /^ {6}\('(?<operation>\w+)', '\{(?<callers>[\w,]+)\}', (?<reader>.+)\)/gm,
  );
  return [...rows].map(({ groups }) => {
    const { operation, callers, reader } = groups!;
    const isFor = (caller: string) => callers.split(",").includes(caller);
    const reads = reader !== "null" && !isFor("customer");
    return {
      operation,
      user: isFor("user"),
      key: reads,
      client: reads,
      viewer: isFor("viewer"),
      session: isFor("customer") || reads && isFor("viewer"),
      service: isFor("service_role"),
      customer: isFor("customer"),
    };
  }).sort((one, other) => one.operation < other.operation ? -1 : 1);
}

/** Returns every file that is written from the list, with its text. */
export async function filesOfOperations(): Promise<Map<string, string>> {
  const all = await allCallers();
  const reading = all.filter(({ key }) => key).map(({ operation }) => operation);
  const module =
    "// npm run migration writes this file from supabase/schemas/foundations/operations.sql.\n\n" +
    `/** The reading operations. */\nexport const operations: readonly string[] = ${
      JSON.stringify(reading)
    };\n\n` +
    "/** The operations that only portal sessions may call here, if their parts name them. */\n" +
    `export const operationsOfCustomers: readonly string[] = ${
      JSON.stringify(all.filter(({ customer }) => customer).map(({ operation }) => operation))
    };\n`;
  return new Map([
    [pageFile, await formatted(pageWithCallers(await Deno.readTextFile(pageFile), all), ".md")],
    [moduleFile, await formatted(module, ".ts")],
  ]);
}

const marker = "<!-- callers -->";

/** Returns the page with the current table between its two markers. */
function pageWithCallers(page: string, all: readonly Callers[]): string {
  const parts = page.split(marker);
  if (parts.length !== 3) {
    throw new Error(`docs/reference/api/callers.md needs two marks ${marker}`);
  }
  const mark = (isOpen: boolean) => isOpen ? "yes" : "";
  const table = [
    "| operation | user | key | client | viewer | session | `service_role` |",
    "| --- | --- | --- | --- | --- | --- | --- |",
    ...all.map(({ operation, user, key, client, viewer, session, service }) => {
      const cells = [user, key, client, viewer, session, service].map(mark);
      return `| \`${operation}\` | ${cells.join(" | ")} |`;
    }),
  ].join("\n");
  return [parts[0], `\n\n${table}\n\n`, parts[2]].join(marker);
}
