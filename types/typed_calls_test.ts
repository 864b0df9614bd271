import assert from "node:assert/strict";
import { checkout } from "../local/stack.ts";

/** Calls that supabase-js accepts with types/database.ts. */
const right = [
  'rpc("create_api_key", { p_name: "a" })',
  'rpc("get_log", { p_id: "x" })',
  'rpc("search_logs", { p_limit: 5 })',
  'rpc("list_api_keys")',
  `rpc("create_alert_rule", {
    p_name: "a", p_query_dsl: "level:error", p_threshold: 1, p_comparison: "gt",
    p_window_minutes: 5, p_cooldown_minutes: 5, p_enabled: true,
  })`,
  'rpc("update_alert_rule", { p_rule_id: "x", p_comparison: "lte" })',
  'rpc("get_log", { p_id: "x" }).then(({ data }) => data?.level === "warn")',
  'rpc("list_api_keys").then(({ data }) => data?.[0].status === "revoked")',
  'rpc("list_log_retention_runs").then(({ data }) => data?.[0].status === "interrupted")',
];

/** Calls that do not compile. */
const wrong = [
  'rpc("create_api_key", {})',
  'rpc("create_api_key", { p_name: 5 })',
  'rpc("create_api_key", { name: "a" })',
  'rpc("get_log", {})',
  'rpc("delete_logs", { p_query_dsl: "ts:*" })',
  'rpc("revoke_api_key", { p_tenant_id: "acme" })',
  'rpc("create_saved_search", { p_name: "a" })',
  'rpc("get_saved_search", {})',
  'rpc("confirm_alert_address", { p_email: "a@b.example" })',
  'rpc("acknowledge_alert", {})',
  'rpc("validate_query", {})',
  'rpc("update_alert_rule", { p_name: "a" })',
  'rpc("update_alert_rule", { p_rule_id: "x", p_comparison: "greater" })',
  `rpc("create_alert_rule", {
    p_name: "a", p_query_dsl: "level:error", p_threshold: 1, p_comparison: "gt",
    p_window_minutes: 5, p_cooldown_minutes: 5,
  })`,
  'rpc("search_log", {})',
  'rpc("get_log", { p_id: "x" }).then(({ data }) => data?.level === "warning")',
  'rpc("list_api_keys").then(({ data }) => data?.[0].status === "live")',
  'rpc("list_alert_rules").then(({ data }) => data?.[0].comparison === ">")',
  'rpc("list_log_retention_runs").then(({ data }) => data?.[0].status === "ok")',
  'rpc("list_alert_deliveries", { p_alert_id: "x" }).then(({ data }) => data?.[0].status === "ok")',
];

Deno.test("a wrong call of an operation does not compile, a right one does", async () => {
  // Written to a folder that no other step checks at the same time.
  const path = `${checkout}/.logloom/typed_calls_${Deno.pid}.ts`;
  await Deno.mkdir(`${checkout}/.logloom`, { recursive: true });
  const lines = [
    'import { createClient } from "@supabase/supabase-js";',
    'import type { Database } from "../types/database.ts";',
    'const client = createClient<Database>("http://127.0.0.1", "key");',
    ...[...right, ...wrong].map((call) => `void client.${call.replaceAll(/\s*\n\s*/g, " ")};`),
  ];
  await Deno.writeTextFile(path, lines.join("\n"));
  try {
    const { stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["check", path],
      cwd: checkout,
      env: { NO_COLOR: "1" },
      stdout: "null",
      stderr: "piped",
    }).output();
    const places = [...new TextDecoder().decode(stderr).matchAll(/calls_\d+\.ts:(\d+):\d+/g)];
    const refused = new Set(places.map(([, line]) => lines[Number(line) - 1]));
    assert.deepEqual([...refused], lines.slice(3 + right.length));
  } finally {
    await Deno.remove(path);
  }
});
