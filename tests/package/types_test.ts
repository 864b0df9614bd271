import assert from "node:assert/strict";
import { packageTool } from "../../local/npm_package.ts";
import { checkout } from "../../local/stack.ts";
import { project } from "./project.ts";

/** Calls that must compile. */
const right = [
  'createReader(supabase).search("level:error", { since: "1h", order: "asc" })',
  'logs.search("").then(({ logs }) => logs[0].level === "warn" && logs[0].id.length)',
  'logs.stats("").then(([row]) => row.total_groups.toFixed())',
  'logs.series("").then(({ series }) => series[0].points.map(([ts, value]) => [ts.length, value?.toFixed()]))',
  'logs.call("list_api_keys", {}).then(([key]) => key.status === "revoked" && key.name.length)',
  'logs.call("get_alert_rule", { p_rule_id: "x" }).then((rule) => rule.notification_config.email?.length)',
  'logs.call("list_log_retention_runs", { p_kind: "erasure" })',
  'logs.call("create_api_key", { p_name: "a" }).then((key) => key.key_value.length)',
  'logs.call("revoke_api_key", { p_key_id: "a" }).then(({ success }) => success === true)',
  'logs.list("list_alert_history", { p_acknowledged: false }).next()',
  'createLogger({ supabase, service: "a" }).info("b", { c: 1 })',
  'createLogger({ url: undefined, key: "k", service: "a", sample: { debug: 0.1 } }).with({ a: 1 })',
  "Deno.serve(logged(log, (_request, { remoteAddr }) => new Response(remoteAddr.hostname)))",
];

/** Calls that must not compile. */
const wrong = [
  'logs.search("", { order: "newest" })',
  'logs.search("", { since: 5 })',
  'logs.search("").then(({ logs }) => logs[0].level === "warning")',
  'logs.search("").then(({ logs }) => logs[0].msg.length)',
  'logs.call("create_api_key", { name: "a" })',
  'logs.call("ingest_text", {})',
  'logs.call("update_tenant_settings", { pipeline_config: { retention: 3 } })',
  'logs.call("set_tenant_member_role", { p_user_id: "a", p_role: "boss" })',
  'logs.call("get_log", {})',
  'logs.call("list_api_keys", {}).then(([key]) => key.status === "live")',
  'logs.list("search_logs")',
  'createReader({ url: "https://a.example" })',
  'createLogger({ url: "u", key: "k" })',
  'createLogger({ url: "u", key: "k", service: "a", level: "trace" })',
  'Deno.serve(logged(log, () => "text"))',
];

Deno.test("a wrong use of the package does not compile, a right one does", async () => {
  const head = [
    'import { createClient } from "@supabase/supabase-js";',
    'import type { Database } from "../types/database.ts";',
    'import { createLogger, logged } from "../packages/logloom/src/edge.ts";',
    'import { createReader } from "../packages/logloom/src/read.ts";',
    'const log = createLogger({ url: "u", key: "k", service: "a" });',
    'const supabase = createClient<Database>("http://127.0.0.1", "key");',
    'const logs = createReader(createClient("http://127.0.0.1", "key"));',
  ];
  const lines = [...head, ...[...right, ...wrong].map((use) => `void ${use};`)];
  assert.deepEqual(await refusedLines(lines), wrong.map((use) => `void ${use};`));
});

Deno.test("its types compile without esnext.disposable, in modules and in CommonJS", async () => {
  for (const end of ["mts", "cts"]) {
    const path = `${project}/uses.${end}`;
    await Deno.writeTextFile(
      path,
      `import { createLogger } from "logloom";
createLogger({ url: "", key: "", service: "a" }).info({ b: 1 }, "c");
`,
    );
    await packageTool(
      "typescript/bin/tsc",
      [
        ...["--ignoreConfig", "--noEmit", "--strict", "--module", "node16", "--lib", "es2022,dom"],
        path,
      ],
      "The types are wrong",
    );
  }
});

async function refusedLines(lines: string[]): Promise<string[]> {
  // Written to a folder that other steps do not read, because they would report the wrong types.
  const path = `${checkout}/.logloom/uses_${Deno.pid}.ts`;
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
