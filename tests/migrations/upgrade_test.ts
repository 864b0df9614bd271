import assert from "node:assert/strict";
import { pushMigrations } from "../../local/database.ts";
import { migrations, migrationsFolder } from "../../local/migrations/released.ts";
import {
  assertAnswer,
  call,
  createKey,
  ingest,
  newTenant,
  rpc,
  type Tenant,
} from "../support/client.ts";
import {
  callAsOwner,
  changeSettings,
  type Database,
  openDatabase,
  recordsOf,
} from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { complete, outcomeOf, Sender } from "../support/sender.ts";

const folder = `${Deno.env.get("LOGLOOM_PROJECT")}/supabase/migrations`;

/** These operations show everything that a tenant has. */
const readings: [operation: string, parameters: Record<string, unknown>][] = [
  ["get_current_tenant", {}],
  ["get_tenant_settings", {}],
  ["list_api_keys", {}],
  ["list_saved_searches", {}],
  ["list_alert_rules", {}],
  ["list_alert_history", {}],
  ["search_logs", { p_query_dsl: "service:shop" }],
  ["log_stats", { p_query_dsl: "service:shop | count() by level" }],
];

/** Makes a tenant with objects of all kinds. */
async function tenantWithEverything(sql: Database): Promise<Tenant> {
  const tenant = await newTenant("upgraded");
  await createKey(tenant);
  const made: [string, Record<string, unknown>][] = [
    ["create_saved_search", { p_name: "errors", p_query_dsl: "level:error", p_tags: ["a"] }],
    ["create_alert_rule", {
      p_name: "many",
      p_query_dsl: "level:error",
      p_threshold: 1e9,
      p_comparison: "gt",
      p_window_minutes: 5,
      p_cooldown_minutes: 5,
      // The rule is disabled, because a round would change it.
      p_enabled: false,
    }],
    ["update_tenant_settings", { pipeline_config: { retention_days: 5 } }],
  ];
  for (const [operation, parameters] of made) {
    assert.equal((await rpc(tenant.token, operation, parameters)).status, 200, operation);
  }
  const now = Date.now();
  const events = Array.from({ length: 300 }, (_, n) => ({
    ts: new Date(now - n * 1000).toISOString(),
    level: ["debug", "info", "warn", "error"][n % 4],
    service: "shop",
    msg: `order ${n}: "ünï" \\ 'quoted' took ${n / 7} ms`,
    req_id: `r-${n}`,
    amount: n * 1.5,
    nested: { list: [n, null, "x"] },
  }));
  assert.equal((await ingest(tenant.headers, events)).status, 200);
  await recordsOf(sql, tenant.id, events.length);
  return tenant;
}

async function read(tenant: Tenant): Promise<unknown[]> {
  const answers: unknown[] = [];
  // A fixed range, so that both readings have the same records.
  for (const [operation, parameters] of readings) {
    const { status, body } = await call<unknown>(`/rest/v1/rpc/${operation}`, {
      method: "POST",
      headers: { ...tenant.headers, "content-type": "application/json", prefer: "timezone=UTC" },
      body: JSON.stringify(parameters),
    });
    assert.equal(status, 200, operation);
    answers.push([operation, withoutRange(body)]);
  }
  return answers;
}

function withoutRange(body: unknown): unknown {
  // `stored` depends on other tenants' records.
  const { ts_from: _from, ts_to: _to, next_cursor: _cursor, stored: _stored, ...rest } = Object(
    body,
  );
  return Array.isArray(body) ? body : rest;
}

/** Returns the answer without members that a newer version added. */
function asKnown(answer: unknown, before: unknown): unknown {
  if (Array.isArray(answer) && Array.isArray(before)) {
    return answer.map((one, n) => asKnown(one, before[n]));
  }
  if (!isObject(answer) || !isObject(before)) return answer;
  return Object.fromEntries(
    Object.entries(answer)
      .filter(([name]) => name in before)
      .map(([name, value]) => [name, asKnown(value, before[name])]),
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Simulates a newer migration if there is none: replaces every function by itself, and changes the table of records and
 * the table that each request reads.
 */
async function migrationOfNothing(sql: Database): Promise<string> {
  const functions = await sql`
    select pg_get_functiondef(p.oid) as definition
    from pg_proc p
    where p.pronamespace in ('logloom_private'::regnamespace, 'public'::regnamespace)
      and p.prokind in ('f', 'p')
      and not exists (
        select from pg_depend d
        where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e'
      )`;
  assert.ok(functions.length > 100);
  return [
    "select logloom_private.hold_writers()",
    "alter table logloom_private.settings add column added integer not null default 1",
    "alter table logloom.logs add constraint added check (true) not valid",
    ...functions.map(({ definition }) => definition as string),
  ].join(";\n\n") + ";\n";
}

const dayStart = (daysAgo: number) => Math.floor(Date.now() / 86_400_000 - daysAgo) * 86_400_000;
const hour = 3_600_000;

/** Makes a tenant with a sealed event for each hour, from four hours before a UTC midnight to ten hours after it. */
async function sealedAcrossMidnight(sql: Database): Promise<Tenant & { midnight: number }> {
  const tenant = await newTenant("sealed");
  const midnight = dayStart(3);
  const events = Array.from({ length: 14 }, (_, n) => ({
    ts: new Date(midnight + (n - 4) * hour).toISOString(),
    msg: `hour ${n - 4}`,
  }));
  assert.equal((await ingest(tenant.headers, events)).status, 200);
  await recordsOf(sql, tenant.id, events.length);
  await using _sealing = await changeSettings(sql, { seal_day_records: 1 });
  await eventually("the days are sealed", async () => {
    // The job may have looked at a day already and found nothing to seal.
    await sql`
      update logloom_private.sealing_days set checked_at = '-infinity', checked_through = null`;
    await callAsOwner(sql, "select logloom_private.seal_step()");
    const rows = await sql`select from logloom.logs where tenant_id = ${tenant.id}`;
    return rows.length === 0;
  });
  return { ...tenant, midnight };
}

/** Asserts that each record is found by its time, and counted. */
async function assertFoundAcrossMidnight({ token, midnight }: Tenant & { midnight: number }) {
  for (const [from, to] of [[-4, 10], [-4, 0], [0, 5], [5, 10], [0, 10], [3, 7], [4, 5]]) {
    const range = {
      p_ts_from: new Date(midnight + from * hour).toISOString(),
      p_ts_to: new Date(midnight + to * hour).toISOString(),
    };
    const expected = Array.from({ length: to - from }, (_, n) => `hour ${from + n}`);
    const { body: page } = await rpc(token, "search_logs", { ...range, p_order: "asc" });
    const logs = page.logs as { msg: string }[];
    assert.deepEqual(logs.map(({ msg }) => msg), expected);
    const { body: histogram } = await rpc(token, "log_histogram", range);
    assert.equal(histogram.total, logs.length, JSON.stringify(range));
    const counted = { ...range, p_query_dsl: "msg:hour | count()" };
    const { body: values } = await rpc(token, "log_stats", counted);
    assert.equal(Object(values)[0].value, logs.length, JSON.stringify(counted));
  }
}

Deno.test("an upgrade under load loses nothing and keeps everything of tenants", async () => {
  await using sql = openDatabase();
  const old = await sealedAcrossMidnight(sql);
  const tenant = await tenantWithEverything(sql);
  const before = await read(tenant);

  const busy = await newTenant("busy");
  const sender = new Sender(busy, { eventsPerRequest: 200, ballast: 200 });
  sender.start();
  await eventually("events come in", () => Promise.resolve(sender.acknowledged > 2_000));

  const applied = await migrations(folder);
  const newer = (await migrations()).filter((name) => !applied.includes(name));
  for (const name of newer) await Deno.copyFile(`${migrationsFolder}/${name}`, `${folder}/${name}`);
  if (newer.length === 0) {
    await Deno.writeTextFile(`${folder}/99991231235959_nothing.sql`, await migrationOfNothing(sql));
  }
  const upgraded = pushMigrations(
    Deno.env.get("LOGLOOM_DB_URL") ?? "",
    undefined,
    Deno.env.get("LOGLOOM_PROJECT"),
  );
  assert.equal(await upgraded, null);
  const after = sender.acknowledged;
  await eventually(
    "events come in again",
    () => Promise.resolve(sender.acknowledged > after + 2_000),
  );
  await sender.stop();

  assert.deepEqual(await outcomeOf(sql, busy), complete(sender));
  assert.deepEqual(asKnown(await read(tenant), before), before);
  await callAsOwner(sql, "select logloom_private.begin_retention(logloom_private.utc_day(now()))");
  await callAsOwner(sql, "call logloom_private.run_job('run_retention')");
  await assertFoundAcrossMidnight(old);
  const [{ versions }] = await sql`
    select count(*)::integer as versions from supabase_migrations.schema_migrations`;
  assert.equal(versions, (await migrations(folder)).length);
  assertAnswer(
    await ingest(tenant.headers, { msg: "one more" }),
    200,
    { success: true, ingested: 1, rejected: 0 },
  );
});
