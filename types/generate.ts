import postgres from "postgres";
import { npmProgram } from "../local/system.ts";
import { checkout, stackNamed } from "../local/stack.ts";

// deno run -A types/generate.ts [DATABASE_URL]: writes the files below from a database, by default the running dev stack.

const header = "// Made by types/generate.ts from the database's own description of itself.\n\n";

/** The generated files, formatted. */
export async function generated(databaseUrl: string): Promise<Record<string, string>> {
  const known = await knownFrom(databaseUrl);
  const database = await databaseTypes(databaseUrl, known);
  return {
    "types/database.ts": header + database,
    "packages/logloom/src/read/operations.ts": header +
      await format(readerOperations(database, known)),
  };
}

/** The operations and their results as supabase-js reads them. */
async function databaseTypes(databaseUrl: string, known: Known): Promise<string> {
  const output = await run(npmProgram("supabase"), [
    "gen",
    "types",
    `--remote=${databaseUrl}`,
    "--schema=public",
  ]);
  // Skips messages about the connection.
  const types = await format(output.slice(output.indexOf("export type Json")));
  return await format(narrowed(types, known));
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
  /** The operations that a user may call. */
  forUsers: Set<string>;
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
        p.pronamespace::regnamespace::text as schema,
        has_function_privilege('authenticated', p.oid, 'execute')
          or p.proname = 'set_log_plans' as is_for_users
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
    const forUsers = new Set(
      operations.filter(({ is_for_users }) => is_for_users).map(({ name }) => name as string),
    );
    return { required, words, forUsers };
  } finally {
    await sql.end();
  }
}

/** The CLI's types, with required parameters required, and words in place of string. */
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

/** The reader's names for results that differ from the database's. */
const ourNames: Record<string, string> = {
  alert_history_entry: "Alert",
  archive_part: "ArchivedFile",
  log_field: "Field",
  log_histogram: "Histogram",
  log_series_answer: "Series",
  log_stat: "StatRow",
  notification_address: "AlertAddress",
};

/**
 * The types of parameters that are only text or JSON in the database. A name may have its operation before a dot, if
 * operations use it differently.
 */
const parameterTypes: Record<string, string> = {
  notification_preferences: 'Partial<TenantSettings["notification_preferences"]>',
  "create_log_stream.p_kind": 'LogStream["kind"]',
  "create_log_stream.p_source": 'LogStream["source"]',
  "list_log_retention_runs.p_kind": 'RetentionRun["kind"]',
  "apply_tenant_files.p_documents": "FileDocument[]",
  "preview_tenant_files.p_documents": "FileDocument[]",
  "set_log_plans.p_plans": "FileDocument[]",
  "create_alert_rule.p_kind": 'AlertRule["kind"]',
  "list_error_groups.p_order": '"priority" | "last_seen" | "first_seen" | "records"',
  "list_error_groups.p_state": 'ErrorGroup["state"][]',
  "update_error_group.p_state": '"open" | "resolved" | "ignored"',
  p_baseline: "AlertBaseline",
  p_config: 'LogStream["config"]',
  p_matcher: "AlertMatcher",
  p_notification_config: 'AlertRule["notification_config"]',
  p_notification_destinations: "Channel[]",
  p_on_absent: 'AlertRule["on_absent"]',
  p_order: '"asc" | "desc"',
  p_recurrence: "AlertRecurrence",
  p_role: "Role",
  p_rules: 'Partial<TenantSettings["retention_rules"][number]>[]',
  p_scopes: "Scope[]",
  p_secrets: "Record<string, string | null>",
  p_state: 'AlertIncident["state"] | "unresolved"',
  pipeline_config: 'Partial<TenantSettings["pipeline_config"]>',
};

function typeOf(operation: string, parameter: string): string | undefined {
  return parameterTypes[`${operation}.${parameter}`] ?? parameterTypes[parameter];
}

/** The types of answers that are only JSON in the database. */
const answerTypes: Record<string, string> = {
  confirm_alert_address: "Success",
  apply_tenant_files: "FileChange[]",
  export_tenant_files: "FileDocument[]",
  preview_tenant_files: "FileChange[]",
  set_log_plans: "{ changes: FileChange[]; plans: FileDocument[] }",
};

/** The operations of users by name, with the reader's own types for nullable and JSON members. */
function readerOperations(database: string, { forUsers }: Known): string {
  const operation =
    /^ {6}"(\w+)": \{\s+Args: (\{[^{}]*\}|Record<PropertyKey, never>);\s+Returns: ([^;]+?)(?:;| \};)$/gm;
  const operations = [...database.matchAll(operation)].flatMap(([, name, args, returns]) => {
    if (!forUsers.has(name)) return [];
    const parameters = args.replace(
      /"(\w+)"(\??): ([^;}]+?)(?=;| \})/g,
      (_, parameter: string, optional: string, type: string) =>
        `${parameter}${optional}: ${typeOf(name, parameter) ?? ours(type)}`,
    );
    const answer = answerTypes[name] ?? ours(returns);
    return [`  ${name}: { parameters: ${parameters}; answer: ${answer} };`];
  });
  if (operations.length !== forUsers.size) throw new Error("An operation is not understood.");
  const text = `/** The operations by their names, with their parameters and their answers. */
export interface Operations {
${operations.join("\n")}
}
`;
  const names = new Set([...text.matchAll(/\b[A-Z]\w+/g)].map(([name]) => name));
  for (const other of ["Operations", "The", "Partial", "Record", "PropertyKey"]) {
    names.delete(other);
  }
  return `import type { ${[...names].sort().join(", ")} } from "./types.ts";\n\n${text}`;
}

function ours(type: string): string {
  return type
    .replace(
      /Database\["public"\]\["CompositeTypes"\]\["logloom_(\w+)"\]/g,
      (_, name: string) =>
        ourNames[name] ??
          name.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase()),
    )
    .replace('Database["public"]["Enums"]["logloom_alert_comparison"]', "Comparison")
    .replace("(string)[]", "string[]");
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
  for (const [path, text] of Object.entries(await generated(databaseUrl))) {
    await Deno.writeTextFile(`${checkout}/${path}`, text);
  }
}
