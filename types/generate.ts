import postgres from "postgres";
import { npmProgram } from "../local/system.ts";
import { checkout, stackNamed } from "../local/stack.ts";

// deno run -A types/generate.ts [DATABASE_URL]: writes types/database.ts from a database, by default the running dev stack.

/** The operations and their results as supabase-js reads them. */
export async function generated(databaseUrl: string): Promise<string> {
  const known = await knownFrom(databaseUrl);
  const output = await run(npmProgram("supabase"), [
    "gen",
    "types",
    `--remote=${databaseUrl}`,
    "--schema=public",
  ]);
  // Skips messages about the connection.
  const types = await format(output.slice(output.indexOf("export type Json")));
  return "// Made by types/generate.ts from the database's own description of itself.\n\n" +
    await format(narrowed(types, known));
}

export function format(types: string): Promise<string> {
  return run(Deno.execPath(), ["fmt", "--ext=ts", "-"], types);
}

/** Facts from the database that its types do not have. */
interface Known {
  /** The parameters that each operation always requires. */
  required: Map<string, string[]>;
  /** The possible words of a member of a result. */
  words: Map<string, string[]>;
}

/** Members of results, with the constraint or function that lists their words. */
const wordsOf: [type: string, member: string, source: string][] = [
  ["logloom_log_record", "level", "logs_level_is_known"],
  ["logloom_api_key", "status", "api_key_status"],
  ["logloom_created_api_key", "status", "api_key_status"],
  ["logloom_alert_delivery", "status", "notifications_status_is_known"],
  ["logloom_alert_delivery", "channel", "notifications_channel_is_known"],
  ["logloom_alert_silence", "state", "alert_silence_state"],
  ["logloom_alert_rule", "on_absent", "alert_rules_on_absent_is_known"],
  ["logloom_alert_incident", "state", "alert_incident_state"],
  ["logloom_alert_incident", "resolution", "alert_incidents_resolution_is_known"],
  ["logloom_alert_incident_details", "state", "alert_incident_state"],
  ["logloom_alert_incident_details", "resolution", "alert_incidents_resolution_is_known"],
  ["logloom_retention_run", "status", "retention_runs_status_is_known"],
  ["logloom_retention_run", "kind", "retention_runs_kind_is_known"],
  ["logloom_log_stream", "kind", "log_streams_kind_is_known"],
  ["logloom_log_stream", "source", "log_streams_source_is_known"],
  ["logloom_log_stream", "pause_reason", "log_streams_pause_reason_is_known"],
  ["logloom_log_stream_failure", "kind", "log_stream_failures_kind_is_known"],
  ["logloom_audit_trail_event", "source", "audit_events_action_is_known"],
  ["logloom_archive_restore", "status", "archive_restores_status_is_known"],
];

async function knownFrom(databaseUrl: string): Promise<Known> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  try {
    const functions = await sql`
      select p.proname as name, concat(p.prosrc, pg_get_function_sqlbody(p.oid)) as source,
        p.pronamespace::regnamespace::text as schema
      from pg_proc p
      where p.pronamespace in ('public'::regnamespace, 'logloom_private'::regnamespace)`;
    const constraints = await sql`
      select c.conname as name, pg_get_constraintdef(c.oid) as source
      from pg_constraint c
      where c.connamespace = 'logloom'::regnamespace
        or c.connamespace = 'logloom_private'::regnamespace`;
    const sources = new Map<string, string>(
      [...functions, ...constraints].map(({ name, source }) => [name, source]),
    );
    const words = new Map(wordsOf.map(([type, member, source]) => {
      const found = [...`${sources.get(source)}`.matchAll(/'(\w+)'/g)].map(([, word]) => word);
      if (found.length < 2) throw new Error(`${source} names no words for ${type}.${member}.`);
      return [`${type}.${member}`, found];
    }));
    // Requirements without a condition, in the operation or in a function that gets its parameters.
    const asked = (source: string, depth = 2): string[] => [
      ...[...source.matchAll(/^ {2}perform \S+require_parameter\('(\w+)', \1 is null\);/gm)]
        .map(([, parameter]) => parameter),
      ...[...source.matchAll(/(?:logloom_private|public)\.(\w+)\(((?:[^()]|\([^()]*\))*)\)/g)]
        .flatMap(
          ([, called, given]) =>
            depth === 0
              ? []
              : asked(sources.get(called) ?? "", depth - 1).filter((one) => given.includes(one)),
        ),
    ];
    const operations = functions.filter(({ schema }) => schema === "public");
    const required = new Map(operations.map(({ name, source }) => [name as string, asked(source)]));
    return { required, words };
  } finally {
    await sql.end();
  }
}

/** The CLI's types, with required parameters required, and words in place of string. */
function narrowed(types: string, { required, words }: Known): string {
  return shortened(types).replace(
    /^ {6}"?(\w+)"?: \{(?: .*\}|\n[\s\S]*?^ {6}\})/gm,
    (block, name: string) => {
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
    },
  );
}

/** Names the shape that most functions repeat, and leaves out helpers for tables, which the schema does not have. */
function shortened(types: string): string {
  const shape =
    /SetofOptions: \{\s+from: "\*";\s+to: ("\w+");\s+isOneToOne: (\w+);\s+isSetofReturn: (\w+);\s+\};/g;
  const helper = /^export type Tables\w*<[\s\S]*?(?=^export )/gm;
  return types
    .replace(shape, "SetofOptions: RowsOf<$1, $2, $3>;")
    .replace(helper, "") + `
type RowsOf<Type extends string, One extends boolean, Set extends boolean> = {
  from: "*";
  to: Type;
  isOneToOne: One;
  isSetofReturn: Set;
};
`;
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
  await Deno.writeTextFile(`${checkout}/types/database.ts`, await generated(databaseUrl));
}
