import { checkout } from "../stack.ts";
import { formatted } from "./fields.ts";

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

const listFile = `${checkout}/supabase/schemas/foundations/operations.sql`;
const pageFile = `${checkout}/docs/reference/api/doors.md`;
const moduleFile = `${checkout}/supabase/functions/logloom-read/operations.ts`;

/** Of every operation, from the list in `supabase/schemas`. */
export async function allDoors(): Promise<Doors[]> {
  const list = await Deno.readTextFile(listFile);
  const rows = list.matchAll(
    /^ {6}\('(?<operation>\w+)', '\{(?<callers>[\w,]+)\}', (?<reader>.+)\)/gm,
  );
  return [...rows].map(({ groups }) => {
    const { operation, callers, reader } = groups!;
    const reads = reader !== "null";
    const isFor = (caller: string) => callers.split(",").includes(caller);
    return {
      operation,
      user: isFor("user"),
      key: reads,
      client: reads,
      viewer: isFor("viewer"),
      session: reads,
      service: isFor("service_role"),
    };
  });
}

/** Every file that is written from the list, with the text that it has to have. */
export async function filesOfOperations(): Promise<Map<string, string>> {
  const all = await allDoors();
  const reading = all.filter(({ key }) => key).map(({ operation }) => operation);
  const module =
    "// npm run migration writes this file from supabase/schemas/foundations/operations.sql.\n\n" +
    `/** What is read by. */\nexport const operations: readonly string[] = ${
      JSON.stringify(reading)
    };\n`;
  return new Map([
    [pageFile, await formatted(pageOfDoors(await Deno.readTextFile(pageFile), all), ".md")],
    [moduleFile, await formatted(module, ".ts")],
  ]);
}

const marker = "<!-- doors -->";

/** The page with the current table between its two markers. */
function pageOfDoors(page: string, all: readonly Doors[]): string {
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
