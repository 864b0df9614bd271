import assert from "node:assert/strict";
import { checkout } from "../../local/stack.ts";
import type { AnswerOf, OperationName, ParametersOf } from "../../packages/logloom/src/read.ts";
import {
  bearer,
  call as post,
  clientOf,
  ingest,
  newTenant,
  type Tenant,
} from "../support/client.ts";
import {
  changeSettings,
  type Database,
  openDatabase,
  queueIsEmpty,
  stopJob,
} from "../support/database.ts";
import { examples } from "../support/docs_examples.ts";

/** The answer of an operation. */
type Answered = [operation: string, answer: unknown];

Deno.test("answers match the client's types, and are null only where the types allow it", async () => {
  await using db = openDatabase();
  // The documented answers are real ones, which another test checks.
  const documented = (await examples()).map((one): Answered => [one.operation, one.response]);
  const answers = [...documented, ...await answersWithNulls(db, await newTenant("answers"))];
  const head = 'import type { AnswerOf } from "../packages/logloom/src/read.ts";\n';
  const uses = answers.map(([operation, answer]) =>
    `void (${JSON.stringify(answer)} satisfies AnswerOf<"${operation}">);`
  );
  assert.equal(await complaints(head + uses.join("\n")), "");

  const told = await Deno.readTextFile(`${checkout}/packages/logloom/src/read/types.ts`);
  const objects = answers.flatMap(([, answer]) => objectsIn(answer));
  for (const [, name, body] of told.matchAll(/^export interface (\w+) \{\n([\s\S]*?)^\}/gm)) {
    const members = [...body.matchAll(/^ {2}(\w+): (.*);$/gm)];
    const names = members.map(([, member]) => member).sort().join();
    const such = objects.filter((one) => Object.keys(one).sort().join() === names);
    const saysNull = members.filter(([, , type]) => / \| null$/.test(type)).map(([, one]) => one);
    const isNull = (member: string) => such.some((one) => one[member] === null);
    assert.deepEqual(saysNull.filter((one) => !isNull(one)), [], `${name}: never null here`);
  }
});

/** Returns answers with null in each place where no documented answer has null. */
async function answersWithNulls(db: Database, tenant: Tenant): Promise<Answered[]> {
  await using _sender = await stopJob(db, "send_notifications");
  const client = clientOf(tenant.token);
  const answers: Answered[] = [];
  async function call<Name extends OperationName>(
    operation: Name,
    parameters: ParametersOf<Name>,
  ): Promise<AnswerOf<Name>> {
    const answer = await client.call(operation, parameters);
    answers.push([operation, answer]);
    return answer;
  }

  const ts = new Date(Date.now() - 600_000).toISOString();
  await ingest(tenant.headers, [
    { ts },
    ...Array.from({ length: 21 }, (_, n) => ({ ts, service: `s${n}` })),
  ]);
  await queueIsEmpty(db);
  await call("search_logs", {});
  // The warning about a sampled range has no position.
  await db`
    insert into logloom.ingest_rule_hours
    values (${tenant.id}, gen_random_uuid(), date_trunc('hour', now()), 1, 1, 0, 0, 1, 0, 0)`;
  await call("log_stats", { p_query_dsl: "| avg(@nothing)" });
  await call("log_series", { p_query_dsl: "| count() by service" });
  await call("log_overview", {});
  // With more than 1,000 hosts, none is said to be silent.
  for (const first of [0, 600]) {
    const hosts = Array.from({ length: 600 }, (_, n) => ({ host: `h${first + n}` }));
    await ingest(tenant.headers, hosts);
  }
  await queueIsEmpty(db);
  await call("log_overview", {});
  await call("validate_query", { p_query_dsl: "level:error" });

  await call("create_log_view", { p_name: "n" });
  await call("create_ingest_rule", { p_name: "n", p_action: { type: "drop" }, p_is_on: false });
  await using _portal = await changeSettings(db, {
    portal_url: "https://logs.example/portal.html",
  });
  await call("create_log_portal_session", { p_link: true });
  // Simulates a schema that the project itself created.
  await db`update logloom.portal_sessions set created_by = null where tenant_id = ${tenant.id}`;
  await call("list_log_portal_sessions", {});

  const { stream_id } = await call("create_log_stream", {
    p_name: "n",
    p_kind: "webhook",
    p_config: { url: "https://example.com/" },
    p_enabled: false,
  });
  // Simulates a schema that the project itself created.
  await db`update logloom.log_streams set maker = null where tenant_id = ${tenant.id}`;
  await call("list_log_streams", {});
  // Simulates a stream that a customer made in a session of the project's secret key.
  await db`
    with v as (
      insert into logloom.log_views (tenant_id, customer, created_by)
      values (${tenant.id}, '42', 'service_role')
      returning view_id
    )
    update logloom.log_streams s set view_id = v.view_id from v where s.stream_id = ${stream_id}`;
  await call("list_portal_things", {});
  // A customer does not learn who made a dashboard.
  await call("create_log_dashboard", { p_name: "n", p_is_shared: true, p_in_portal: true });
  const { token } = await call("create_log_portal_session", {
    p_parts: ["dashboards"],
    p_customer: "42",
  });
  const { body } = await post<AnswerOf<"list_log_dashboards">>(
    "/functions/v1/logloom-read/v1/list_log_dashboards",
    { method: "POST", headers: bearer(token ?? "") },
  );
  answers.push(["list_log_dashboards", body]);
  await db`update logloom.log_streams set view_id = null where stream_id = ${stream_id}`;
  await db`
    insert into logloom.archive_parts (
      tenant_id, first_day, last_day, write_seq, object_key, status, first_ts, last_ts, records,
      bytes, sha256, verified_at
    )
    values (
      ${tenant.id}, '2026-03-01', '2026-03-01', 1, ${tenant.id}, 'missing', now(), now(), 1, 1, '',
      now()
    )`;
  await call("list_log_archive", {});
  await db`delete from logloom.archive_parts where tenant_id = ${tenant.id}`;
  await db`
    insert into logloom.log_stream_failures (stream_id, tenant_id, kind, records, ts_from, ts_to, error)
    values
      (${stream_id}, ${tenant.id}, 'gap', null, now() - interval '1 day', now(), 'gone'),
      (${stream_id}, ${tenant.id}, 'rejected', 1, null, null, 'left out')`;
  await call("list_log_stream_failures", { p_stream_id: stream_id });

  const search = { p_name: "n", p_query_dsl: "ts:*" };
  const id = await call("create_saved_search", search);
  await call("get_saved_search", { p_id: id });
  await call("run_saved_search", { p_id: id });

  const condition = {
    p_query_dsl: "ts:*",
    p_threshold: 1,
    p_comparison: "gt",
    p_window_minutes: 5,
    p_cooldown_minutes: 5,
  } as const;
  await call("preview_alert_rule", condition);
  await call("preview_alert_rule", { ...condition, p_query_dsl: "| avg(@nothing)" });
  await call("preview_alert_rule", { ...condition, p_query_dsl: "| count() by service" });
  await call("preview_alert_rule", { ...condition, p_baseline: { days: 7 } });
  const { rule_id } = await call("create_alert_rule", {
    ...condition,
    p_name: "n",
    p_enabled: false,
    p_notification_destinations: ["email"],
    p_notification_config: { email: `${tenant.id}@example.com` },
  });
  await call("test_alert_rule", { p_rule_id: rule_id });
  await call("list_alert_deliveries", { p_rule_id: rule_id });
  await call("list_alert_addresses", {});
  await db`
    insert into logloom.alert_history (
      tenant_id, rule_id, value, threshold, window_start, window_end
    )
    values (${tenant.id}, ${rule_id}, 2, 1, now() - interval '5 minutes', now())`;
  await call("list_alert_history", {});
  // An incident without a rule, as from an older version.
  await db`
    insert into logloom.alert_incidents (
      tenant_id, rule_id, rule_name, window_minutes, threshold, opened_at, last_fired_at, value,
      peak_value, held_until
    )
    values (${tenant.id}, gen_random_uuid(), 'n', 5, 1, now(), now(), 2, 2, now())`;
  await call("list_alert_incidents", {});
  await call("create_alert_silence", { p_matcher: {}, p_to: "2099-01-01" });
  await call("create_alert_silence", {
    p_matcher: {},
    p_recurrence: { days: ["mon"], start: "02:00", minutes: 60, time_zone: "UTC" },
  });

  // The group of a record that was not counted yet, and a group whose records are gone.
  await using _groups = await stopJob(db, "group_errors");
  await ingest(tenant.headers, [{ ts, level: "error" }]);
  await queueIsEmpty(db);
  const { logs: [{ id: p_id }] } = await client.call("search_logs", { p_query_dsl: "level:error" });
  await call("get_error_group", { p_id });
  await db`
    insert into logloom.error_groups (tenant_id, fingerprint, first_seen, last_seen, opened_at)
    values (${tenant.id}, 'f00d', now(), now(), now())`;
  await call("list_error_groups", {});
  await call("verify_audit_trail", {});

  await call("delete_logs", {
    p_query_dsl: "level:error",
    p_ts_from: "now-1h",
    p_ts_to: "now",
    p_dry_run: false,
  });
  await db`
    insert into logloom.retention_runs (tenant_id, kind, status, requested_by, ts_to)
    values (${tenant.id}, 'retention', 'running', 'retention', now() - interval '7 days')`;
  await call("list_log_retention_runs", {});
  return answers;
}

function objectsIn(value: unknown): Record<string, unknown>[] {
  if (typeof value !== "object" || value === null) return [];
  const inner = Object.values(value).flatMap(objectsIn);
  return Array.isArray(value) ? inner : [{ ...value }, ...inner];
}

/** Returns the compiler's errors for a module. */
async function complaints(text: string): Promise<string> {
  const path = `${checkout}/.logloom/answers_${Deno.pid}.ts`;
  await Deno.writeTextFile(path, text);
  try {
    const { stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["check", "--quiet", path],
      cwd: checkout,
      env: { NO_COLOR: "1" },
      stdout: "null",
      stderr: "piped",
    }).output();
    return new TextDecoder().decode(stderr);
  } finally {
    await Deno.remove(path);
  }
}
