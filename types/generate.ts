import postgres from "postgres";
import { npmProgram } from "../local/system.ts";
import { checkout, stackNamed } from "../local/stack.ts";

// deno run -A types/generate.ts [DATABASE_URL]: writes types/database.ts anew, from the running dev stack unless told otherwise.

const header = "// Made by types/generate.ts from the database's own description of itself.\n\n";

/** The operations and their results as TypeScript, formatted as this repository is. */
export async function databaseTypes(databaseUrl: string): Promise<string> {
  const output = await run(npmProgram("supabase"), [
    "gen",
    "types",
    `--remote=${databaseUrl}`,
    "--schema=public",
  ]);
  // Words about the connection come first.
  const types = await format(output.slice(output.indexOf("export type Json")));
  return header + await format(narrowed(types, await knownFrom(databaseUrl)));
}

function format(types: string): Promise<string> {
  return run(Deno.execPath(), ["fmt", "--ext=ts", "-"], types);
}

/** What the database knows and its types do not say. */
interface Known {
  /** The parameters that each operation asks for whatever else it is given. */
  required: Map<string, string[]>;
  /** The words that a place in a result can have. */
  words: Map<string, string[]>;
}

/** A member of a result whose words a constraint or a function knows. */
const wordsOf: [type: string, member: string, source: string][] = [
  ["logloom_log_record", "level", "logs_level_is_known"],
  ["logloom_api_key", "status", "api_key_status"],
  ["logloom_created_api_key", "status", "api_key_status"],
  ["logloom_alert_delivery", "status", "notifications_status_is_known"],
  ["logloom_alert_delivery", "channel", "notifications_channel_is_known"],
  ["logloom_retention_run", "status", "retention_runs_status_is_known"],
  ["logloom_retention_run", "kind", "retention_runs_kind_is_known"],
];

async function knownFrom(databaseUrl: string): Promise<Known> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  try {
    const functions = await sql`
      select p.proname as name, p.prosrc as source, p.pronamespace::regnamespace::text as schema
      from pg_proc p
      where p.pronamespace in ('public'::regnamespace, 'logloom_private'::regnamespace)`;
    const constraints = await sql`
      select c.conname as name, pg_get_constraintdef(c.oid) as source
      from pg_constraint c
      where c.connamespace = 'logloom'::regnamespace
        or c.connamespace = 'logloom_private'::regnamespace`;
    const inside = functions.filter(({ schema }) => schema === "logloom_private");
    const sources = new Map([...inside, ...constraints].map(({ name, source }) => [name, source]));
    const words = new Map(wordsOf.map(([type, member, source]) => {
      const found = [...`${sources.get(source)}`.matchAll(/'(\w+)'/g)].map(([, word]) => word);
      if (found.length < 2) throw new Error(`${source} names no words for ${type}.${member}.`);
      return [`${type}.${member}`, found];
    }));
    // Asked for unless a condition stands before it, in the operation or in what it calls.
    const asked = (source: string) =>
      [...source.matchAll(/^ {2}perform \S+require_parameter\('(\w+)', \1 is null\);/gm)]
        .map(([, parameter]) => parameter);
    const operations = functions.filter(({ schema }) => schema === "public");
    const required = new Map(operations.map(({ name, source }) => [
      name as string,
      [
        source,
        ...[...source.matchAll(/logloom_private\.(\w+)\(/g)].map(([, called]) =>
          sources.get(called) ?? ""
        ),
      ].flatMap(asked),
    ]));
    return { required, words };
  } finally {
    await sql.end();
  }
}

/** The CLI's types, with required parameters required, and words where it has only string. */
function narrowed(types: string, { required, words }: Known): string {
  return types.replace(/^ {6}"?(\w+)"?: \{(?: .*\}|\n[\s\S]*?^ {6}\})/gm, (block, name: string) => {
    for (const parameter of required.get(name) ?? []) {
      block = block.replace(new RegExp(`("?\\b${parameter}"?)\\?:`), "$1:");
    }
    block = block.replace(
      /("?p_comparison"?\??:) string/,
      '$1 Database["public"]["Enums"]["logloom_alert_comparison"]',
    );
    for (const [place, known] of words) {
      const [type, member] = place.split(".");
      if (type !== name) continue;
      const union = known.map((word) => JSON.stringify(word)).join(" | ");
      block = block.replace(new RegExp(`("?\\b${member}"?:) string`), `$1 ${union}`);
    }
    return block;
  });
}

async function run(program: string, args: string[], input = ""): Promise<string> {
  const child = new Deno.Command(program, {
    args,
    cwd: checkout,
    env: { SUPABASE_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1", NO_COLOR: "1" },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(input));
  await writer.close();
  const { success, stdout, stderr } = await child.output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(`${program} failed: ${decoder.decode(stderr)}`);
  return decoder.decode(stdout);
}

if (import.meta.main) {
  const databaseUrl = Deno.args[0] ?? stackNamed("dev").databaseUrl;
  await Deno.writeTextFile(`${checkout}/types/database.ts`, await databaseTypes(databaseUrl));
}
