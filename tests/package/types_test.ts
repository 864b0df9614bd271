import assert from "node:assert/strict";
import { checkout } from "../../local/stack.ts";

/** What the package's types take … */
const right = [
  'createReader(supabase).search("level:error", { since: "1h", order: "asc" })',
  'logs.search("").then(({ logs }) => logs[0].level === "warn" && logs[0].id.length)',
  'logs.stats("").then(([row]) => row.total_groups.toFixed())',
  'logs.series("").then(({ series }) => series[0].points.map(([ts, value]) => [ts.length, value?.toFixed()]))',
  'logs.call("list_api_keys", {}).then(([key]) => key.status === "revoked" && key.name.length)',
  'logs.call("get_alert_rule", { p_rule_id: "x" }).then((rule) => rule.notification_config.email?.length)',
  'logs.call("list_log_retention_runs", { p_kind: "erasure" })',
  'logs.list("list_alert_history", { p_acknowledged: false }).next()',
  'createLogger({ supabase, service: "a" }).info("b", { c: 1 })',
  'createLogger({ url: undefined, key: "k", service: "a", sample: { debug: 0.1 } }).with({ a: 1 })',
];

/** … and what they refuse. */
const wrong = [
  'logs.search("", { order: "newest" })',
  'logs.search("", { since: 5 })',
  'logs.search("").then(({ logs }) => logs[0].level === "warning")',
  'logs.search("").then(({ logs }) => logs[0].msg.length)',
  'logs.call("create_api_key", { p_name: "a" })',
  'logs.call("get_log", {})',
  'logs.call("list_api_keys", {}).then(([key]) => key.status === "live")',
  'logs.list("search_logs")',
  'createReader({ url: "https://a.example" })',
  'createLogger({ url: "u", key: "k" })',
  'createLogger({ url: "u", key: "k", service: "a", level: "trace" })',
];

/** A type of the package, and the one of the database that it says more exactly. */
const twins: [ours: string, theirs: string][] = [
  ["LogRecord", "log_record"],
  ["LogPage", "log_page"],
  ["LogTail", "log_tail"],
  ["StatRow", "log_stat"],
  ["Series", "log_series_answer"],
  ["Series['series'][0]", "log_series"],
  ["Histogram", "log_histogram"],
  ["Histogram['buckets'][0]", "log_bucket"],
  ["Histogram['buckets'][0]['levels']", "log_level_counts"],
  ["Field", "log_field"],
  ["QueryValidity", "query_validity"],
  ["QueryWarning", "query_warning"],
  ["SavedSearch", "saved_search"],
  ["PlanFeature", "plan_feature"],
  ["AlertRule", "alert_rule"],
  ["AlertPreview", "alert_preview"],
  ["Alert", "alert_history_entry"],
  ["AlertDelivery", "alert_delivery"],
  ["AlertAddress", "notification_address"],
  ["Tenant", "tenant"],
  ["Tenant['features']", "plan_features"],
  ["TenantSettings", "tenant_settings"],
  ["Usage", "usage"],
  ["Member", "member"],
  ["ApiKey", "api_key"],
  ["ApiKeyUsage", "api_key_usage"],
  ["AuditEvent", "audit_event"],
  ["RetentionRun", "retention_run"],
];

Deno.test("a wrong use of the package does not compile, a right one does", async () => {
  const head = [
    'import { createClient } from "@supabase/supabase-js";',
    'import type { Database } from "../../types/database.ts";',
    'import { createLogger } from "../../packages/logloom/src/index.ts";',
    'import { createReader } from "../../packages/logloom/src/read.ts";',
    'const supabase = createClient<Database>("http://127.0.0.1", "key");',
    'const logs = createReader(createClient("http://127.0.0.1", "key"));',
  ];
  const lines = [...head, ...[...right, ...wrong].map((use) => `void ${use};`)];
  assert.deepEqual(await refusedLines(lines), wrong.map((use) => `void ${use};`));
});

Deno.test("the package's types have the members that the database has, and its operations", async () => {
  const lines = [
    'import type { Database } from "../../types/database.ts";',
    'import type * as Ours from "../../packages/logloom/src/read.ts";',
    'type Theirs = Database["public"]["CompositeTypes"];',
    'type Functions = Database["public"]["Functions"];',
    "type Same<A, B> = [A] extends [B] ? [B] extends [A] ? true : never : never;",
    ...twins.map(([ours, theirs]) =>
      `export const _${theirs}: Same<keyof Ours.${ours}, keyof Theirs["logloom_${theirs}"]> = true;`
    ),
    "type Ops = Ours.Operations;",
    // An operation without parameters has any name in its place.
    "type Names<T> = string extends keyof T ? never : keyof T;",
    "type Differing = { [Name in keyof Ops]: [Same<keyof Ops[Name]['parameters'], " +
    "Names<Functions[Name]['Args']>>] extends [never] ? Name : never }[keyof Ops];",
    "export const none: Same<Differing, never> = true;",
    // Nothing that only reads is left out.
    "type Reading = Extract<keyof Functions, " +
    "`get_${string}` | `list_${string}` | `log_${string}` | `${string}_query` | `search_${string}`>;",
    "export const all: Same<Reading, Extract<keyof Ops, Reading>> = true;",
  ];
  assert.deepEqual(await refusedLines(lines), []);
});

async function refusedLines(lines: string[]): Promise<string[]> {
  const path = `${checkout}/tests/package/.uses_${Deno.pid}.ts`;
  await Deno.writeTextFile(path, lines.join("\n"));
  try {
    const { stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["check", path],
      cwd: checkout,
      env: { NO_COLOR: "1" },
      stdout: "null",
      stderr: "piped",
    }).output();
    const said = new TextDecoder().decode(stderr);
    const places = [...said.matchAll(/uses_\d+\.ts:(\d+):\d+/g)];
    const elsewhere = /^error: (?!Type checking)/m.exec(said);
    assert.equal(elsewhere, null, said);
    return [...new Set(places.map(([, line]) => lines[Number(line) - 1]))];
  } finally {
    await Deno.remove(path);
  }
}
