import assert from "node:assert/strict";
import { ingest, rpc, supabase } from "../support/client.ts";
import {
  callAsOwner,
  type Database,
  openDatabase,
  runWriter,
  stopJob,
} from "../support/database.ts";
import { examples } from "../support/docs_examples.ts";
import { keepRecords } from "../support/plans.ts";
import { stack } from "../support/stack.ts";
import { userToken } from "../support/tokens.ts";
import { asUser, newUser, type User } from "../support/users.ts";
import { onlyIf } from "../support/skip_unless.ts";

/** Makes a user with a new token. */
async function ownerOf(tenantId: string | undefined, id: string): Promise<User> {
  const token = await userToken({ sub: id, tenant_id: tenantId });
  return asUser({ id: tenantId ?? "", userId: id, token });
}

type Send = (user: User, operation: string, parameters: unknown) => Promise<unknown>;

const ways: Record<string, Send> = {
  fetch: async (user, operation, parameters) => {
    const { status, body } = await rpc<unknown>(user.token, operation, parameters);
    assert.equal(status, 200, `${operation}: ${JSON.stringify(body)}`);
    return body;
  },
  "untyped supabase-js": async (user, operation, parameters) => {
    const { data, error } = await supabase(user.token).rpc(operation, parameters as object);
    assert.equal(error, null, operation);
    return data;
  },
  curl: async (user, operation, parameters) => {
    const { stdout } = await new Deno.Command("curl", {
      args: [
        "--silent",
        "--fail-with-body",
        ...["-X", "POST", `${stack.url}/rest/v1/rpc/${operation}`],
        ...["-H", `apikey: ${stack.anonKey}`],
        ...["-H", `Authorization: Bearer ${user.token}`],
        ...["-H", "Content-Type: application/json"],
        ...["-d", JSON.stringify(parameters)],
      ],
    }).output();
    return JSON.parse(new TextDecoder().decode(stdout));
  },
};

const hasCurl = await new Deno.Command("curl", { args: ["--version"] }).output()
  .then(() => true, () => false);

for (const [way, send] of Object.entries(ways)) {
  Deno.test({
    name: `the examples of docs/reference/api answer as shown, by ${way}`,
    ...onlyIf(way !== "curl" || hasCurl, "curl is not installed"),
    fn: async () => {
      await using db = openDatabase();
      // The jobs would change rules and deliveries.
      await using _evaluator = await stopJob(db, "evaluate_alerts");
      await using _sender = await stopJob(db, "send_notifications");
      await using _linker = await stopJob(db, "link_audit_events");
      const user = await newUser();
      await user.client.call("update_tenant_settings", {});
      await db`update logloom.tenants set plan_id = 'pro' where tenant_id = ${user.tenantId}`;
      // Replaces the page's ids and names by those of this run.
      const actual = new Map([
        ["demo", user.tenantId],
        ["11111111-1111-4111-8111-111111111111", user.id],
        ["acme", `new-${user.tenantId}`],
      ]);
      const newcomerId = crypto.randomUUID();
      const newcomer = await ownerOf(undefined, newcomerId);
      for (const { operation, request, response } of await examples()) {
        if (operation === "search_logs") {
          // A long retention, because the page's records are of a fixed day.
          await keepRecords(db, user.tenantId, 36_500);
          await addRecords(db, user.tenantId);
        }
        if (operation === "list_alert_history") {
          const { p_rule_id } = inserted(request, actual) as { p_rule_id: string };
          await db`
            insert into logloom.alert_history (
              tenant_id, rule_id, value, threshold, notification_sent_at, notification_channels,
              window_start, window_end
            )
            values (
              ${user.tenantId}, ${p_rule_id}, 12.4, 10, now(), '{email}',
              now() - interval '5 minutes', now()
            )`;
        }
        if (operation === "list_alert_incidents") {
          // Adds an incident, as if the page's rule had fired.
          await db`
            insert into logloom.alert_incidents (
              tenant_id, rule_id, rule_name, query_dsl, window_minutes, threshold, comparison,
              opened_at, last_fired_at, value, peak_value, held_until
            )
            select
              r.tenant_id, r.rule_id, r.name, r.query_dsl, r.window_minutes, r.threshold,
              r.comparison, now(), now(), 12.4, 12.4, now()
            from logloom.alert_rules r
            where r.tenant_id = ${user.tenantId}`;
        }
        if (operation === "list_error_groups") await addError(db, user);
        if (operation === "verify_audit_trail") {
          await callAsOwner(db, "select logloom_private.link_audit_events()");
        }
        if (operation === "list_log_archive") {
          const [part] = response as Record<string, unknown>[];
          await db`update logloom_private.settings set archive_bucket = ${`${part.bucket}`}`;
          await db`
            insert into logloom.archive_parts (
              tenant_id, first_day, last_day, write_seq, object_key, status, first_ts, last_ts,
              records, bytes, sha256, verified_at
            )
            values (
              ${user.tenantId}, '2026-03-01', '2026-03-01', 1, ${`${part.key}`}, 'verified',
              '2026-03-01 00:00:00.123456+00', '2026-03-01 23:59:59.123456+00', 32000, 652800,
              ${`${part.sha256}`}, now()
            )`;
        }
        if (operation === "confirm_alert_address") {
          // Simulates that the mail with the code has arrived.
          const { p_email, p_code } = request as { p_email: string; p_code: string };
          await db`
            delete from logloom_private.notifications
            where tenant_id = ${user.tenantId} and purpose = 'confirmation'`;
          await db`
            insert into logloom_private.notification_addresses as a (
              tenant_id, mailbox, code_hash, code_expires_at
            )
            values (
              ${user.tenantId}, ${p_email}, extensions.crypt(${p_code}, extensions.gen_salt('bf', 4)),
              now() + interval '1 day'
            )
            on conflict (tenant_id, customer, mailbox) do update set code_hash = excluded.code_hash`;
        }
        const caller = operation === "create_tenant"
          ? newcomer
          : operation === "delete_tenant"
          ? await ownerOf(actual.get("acme") ?? "", newcomerId)
          : user;
        const answer = await send(caller, operation, inserted(request, actual));
        assertAsDocumented(answer, response, actual, operation);
        if (operation === "list_log_archive_restores") {
          await db`update logloom_private.settings set archive_bucket = null`;
          // There is no bucket, so the restore would fail.
          await db`delete from logloom.archive_restores where tenant_id = ${user.tenantId}`;
          await db`delete from logloom.archive_parts where tenant_id = ${user.tenantId}`;
          await db`delete from logloom_private.kept_longer where tenant_id = ${user.tenantId}`;
        }
      }
    },
  });
}

Deno.test("docs/reference/api documents every operation that users can call", async () => {
  await using db = openDatabase();
  const rows = await db`
    select p.proname as name from pg_proc p
    where p.pronamespace = 'public'::regnamespace
      and has_function_privilege('authenticated', p.oid, 'execute')`;
  const documented = (await examples()).map(({ operation }) => operation);
  assert.deepEqual(documented.sort(), rows.map(({ name }) => name as string).sort());
});

/** Adds the records for the page's examples, all of one day, so that no other example finds them. */
async function addRecords(db: Database, tenantId: string): Promise<void> {
  const records = [
    { ts: "10:00:00Z", level: "info", msg: "Started", service: "api" },
    { ts: "10:01:00Z", level: "info", msg: "Ready", service: "worker" },
    {
      ts: "10:01:30.5Z",
      level: "error",
      msg: "Connection refused by db-1",
      service: "api",
      req_id: "r-7",
      attrs: { status: 502 },
    },
  ].map((record) => ({ ...record, ts: `2026-03-02T${record.ts}` }));
  // One transaction, so that no job drops the empty day meanwhile.
  await db.begin(async (tx) => {
    await tx`set local role postgres`;
    await tx`select logloom_private.create_partition('2026-03-02')`;
    await tx`reset role`;
    await tx`
      insert into logloom.logs (
        id, tenant_id, ts, received_at, write_seq, level, msg, service, req_id, attrs
      )
      select
        logloom_private.batch_key(now()), ${tenantId}, r.ts, r.ts + interval '1 second',
        nextval('logloom_private.write_seq'), r.level, r.msg, r.service, r.req_id, r.attrs
      from jsonb_populate_recordset(null::logloom.logs, ${JSON.stringify(records)}::text::jsonb) r`;
    await tx`select logloom_private.recount_records('2026-03-02')`;
  });
}

/** Sends the error of the page on error groups, and has it counted. */
async function addError(db: Database, user: User): Promise<void> {
  const msg = "TypeError: Cannot read properties of undefined (reading 'id')";
  const stack = `${msg}\n    at total (/app/src/cart.ts:17:12)
    at node:internal/process/task_queues:95:5`;
  await ingest({ authorization: `Bearer ${user.token}` }, [
    { level: "error", msg, service: "checkout", user_id: "u-7", stack, release: "2.4.1" },
  ]);
  await runWriter(db);
  await callAsOwner(db, "call logloom_private.run_job('group_errors')");
}

/** Replaces the page's placeholders in a value. */
function inserted(value: unknown, actual: Map<string, string>): unknown {
  return JSON.parse(
    JSON.stringify(value),
    (_, part) => typeof part === "string" ? actual.get(part) ?? part : part,
  );
}

const shapes = [
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  /^ll[tp]?_[0-9A-Za-z]{36}$/,
  /^ll_[0-9A-Za-z]{8}$/,
  /^\d{4}-\d\d$/,
  /^\d{4}-\d\d-\d\d$/,
  /^[0-9a-f]{64}$/,
  /^whsec_[0-9A-Za-z+/]{43}=$/,
  // Cursors of tail_logs and export_logs.
  /^[0-9A-Za-z_-]{150,300}$/,
];
const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?\+00:00$/;

/**
 * Asserts equality with two exceptions: an id of the page stands for the same id everywhere, and a time for any time.
 */
function assertAsDocumented(
  answer: unknown,
  documented: unknown,
  actual: Map<string, string>,
  where: string,
): void {
  if (typeof documented === "string" && typeof answer === "string") {
    if (timestamp.test(documented)) {
      assert.match(answer, timestamp, where);
      return;
    }
    const shape = shapes.find((one) => one.test(documented));
    if (shape && !actual.has(documented)) {
      assert.match(answer, shape, where);
      actual.set(documented, answer);
    }
    assert.equal(answer, actual.get(documented) ?? documented, where);
  } else if (typeof documented === "object" && documented !== null) {
    assert.ok(typeof answer === "object" && answer !== null, where);
    assert.equal(Array.isArray(answer), Array.isArray(documented), where);
    assert.deepEqual(Object.keys(answer).sort(), Object.keys(documented).sort(), where);
    for (const [key, part] of Object.entries(documented)) {
      assertAsDocumented(Reflect.get(answer, key), part, actual, `${where}.${key}`);
    }
  } else {
    assert.deepEqual(answer, documented, where);
  }
}
