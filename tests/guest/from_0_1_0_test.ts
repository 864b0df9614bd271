import assert from "node:assert/strict";
import postgres from "postgres";
import { exportFrom, importInto, shipAll } from "../../cli/from_0_1_0.ts";
import { installInto } from "../../packages/logloom/src/cli/commands/install_into.ts";
import { uninstall } from "../../packages/logloom/src/cli/commands/uninstall.ts";
import { pushMigrations, removeCluster } from "../../local/database.ts";
import { removeIfThere } from "../../local/files.ts";
import { anonKey, signToken } from "../../local/keys.ts";
import { migrations, migrationsFolder } from "../../local/migrations/released.ts";
import { checkout, stackNamed } from "../../local/stack.ts";
import { prepareSystem } from "../../local/system.ts";
import { endLeftovers, up } from "../../local/up.ts";
import { eventually } from "../support/eventually.ts";

const ours = `${checkout}/supabase`;

const old = ["20290301000001_logloom.sql", "20290301000002_logloom_schedules.sql"];
const kinds = {
  "a project of its own": { source: checkout, own: [] as string[] },
  "a guest": {
    source: `${checkout}/tests/guest/shop`,
    own: ["20290101000000_shop.sql", "20290102000000_shop_jobs.sql"],
  },
};

for (const [kind, { source, own }] of Object.entries(kinds)) {
  Deno.test(`what 0.1.0 kept in ${kind} is carried over, record by record`, async () => {
    const stack = stackNamed("scratch");
    const system = await prepareSystem(() => {});
    await endLeftovers(stack);
    await removeCluster(system, stack);
    await removeIfThere(stack.folder);
    const project = `${stack.folder}/project`;
    const folder = `${project}/supabase/migrations`;
    await Deno.mkdir(folder, { recursive: true });
    await Deno.copyFile(`${source}/supabase/config.toml`, `${project}/supabase/config.toml`);
    for (const name of own) {
      await Deno.copyFile(`${source}/supabase/migrations/${name}`, `${folder}/${name}`);
    }
    for (const name of old) await writeReleased(name, `${folder}/${name}`);
    const push = () => pushMigrations(stack.databaseUrl, undefined, project);
    const install = async () => {
      if (own.length > 0) return void await installInto(project, ours);
      for (const name of await migrations()) {
        await Deno.copyFile(`${migrationsFolder}/${name}`, `${folder}/2029${name.slice(4)}`);
      }
    };
    const data = `${stack.folder}/data`;

    let before: Record<string, unknown> = {};
    const running = await up(stack, system, {
      progress: () => {},
      project,
      afterDatabase: async () => {
        const sql = postgres(stack.databaseUrl, { max: 1, onnotice: () => {} });
        try {
          await fill(sql);
          before = await rowsOf(sql);

          // In place it goes nowhere, and nothing changes.
          if (own.length > 0) await assert.rejects(installInto(project, ours), /docs\/upgrade\.md/);
          const first = `${folder}/20290401000000_logloom_foundations.sql`;
          await Deno.copyFile(`${migrationsFolder}/${(await migrations())[0]}`, first);
          const refused = (await push() ?? "it was pushed").replaceAll(/\s+/g, " ");
          assert.match(refused, /Logloom 0\.1\.0 is in this project, .* nothing was changed/);
          assert.match(refused, /docs\/upgrade\.md/);
          assert.deepEqual(await rowsOf(sql), before);
          await Deno.remove(first);

          const { records } = await exportFrom(stack.databaseUrl, data);
          assert.deepEqual(records.map(({ tenant_id, records }) => [tenant_id, records]), [
            ["../a 'quoted' \"ü\"", 40],
            ["acme", 1500],
          ]);
          await uninstall(stack.databaseUrl, ours, () => {});
          for (const name of old) await Deno.remove(`${folder}/${name}`);
          await install();
          assert.equal(await push(), null);
          await importInto(stack.databaseUrl, data);
          assert.deepEqual(await rowsOf(sql), before);
          await assert.rejects(importInto(stack.databaseUrl, data), /3 tenants already/);
        } finally {
          await sql.end();
        }
      },
    });
    const sql = postgres(stack.databaseUrl, { max: 1, onnotice: () => {} });
    try {
      // What is counted and compared below are rows: days of the week before would be sealed at some minute.
      await sql`update logloom_private.settings set seal_after = '100 days' where singleton`;
      await shipAll(stack.databaseUrl, data, stack.url, () => {});
      await eventually("all records are written", async () => {
        const [{ count }] = await sql`select count(*)::integer as count from logloom.logs`;
        return count === 1540;
      });
      const shipped = await sql`${contents(sql, "logloom.logs")}`;
      assert.equal(shipped[0].contents, before.records);
      const [{ open }] = await sql`
        select count(*)::integer as open from logloom.api_keys where revoked_at is null`;
      assert.equal(open, 0);
      const answer = await fetch(`${stack.url}/rest/v1/rpc/search_logs`, {
        method: "POST",
        headers: {
          apikey: anonKey,
          authorization: `Bearer ${tokenOf("acme")}`,
          "content-type": "application/json",
        },
        body: JSON.stringify({
          p_query_dsl: "req_id:r-7",
          p_ts_from: new Date(Date.now() - 3 * 86_400_000).toISOString(),
        }),
      });
      const { logs, ...rest } = await answer.json();
      assert.equal(answer.status, 200, JSON.stringify(rest));
      assert.equal(logs.length, 1);
    } finally {
      await sql.end();
      await running.stop();
      await removeCluster(system, stack);
      await removeIfThere(stack.folder);
    }
  });
}

/** A migration of 0.1.0, kept compressed: nobody reads or changes it any more. */
async function writeReleased(name: string, path: string): Promise<void> {
  using source = await Deno.open(`${checkout}/tests/guest/0.1.0/${name.replace(/^\d+_/, "")}.gz`);
  using target = await Deno.open(path, { write: true, create: true });
  await source.readable.pipeThrough(new DecompressionStream("gzip")).pipeTo(target.writable);
}

/** Three tenants of 0.1.0 with all that is carried over; most records of one are sealed. */
async function fill(sql: postgres.Sql): Promise<void> {
  await sql`update logloom.plans set max_alerts = 77 where plan_id = 'pro'`;
  await sql`
    insert into logloom.tenants (tenant_id, plan_id)
    values ('acme', 'pro'), (${"../a 'quoted' \"ü\""}, 'free'), ('without records', 'free')`;
  await sql`
    insert into logloom.tenant_members (tenant_id, user_id, email, role)
    values ('acme', 'u1', 'ada@example.com', 'owner'), ('acme', 'u2', null, 'member')`;
  await sql`
    insert into logloom.tenant_settings (tenant_id, retention_days, compression)
    values ('acme', 25, false)`;
  await sql`
    insert into logloom.saved_searches (tenant_id, created_by, name, query_dsl, tags)
    values ('acme', 'u1', 'errors', 'level:error', '{a,b}')`;
  await sql`
    insert into logloom.alert_rules (
      tenant_id, name, query_dsl, threshold, comparison, window_minutes, cooldown_minutes, enabled,
      notification_destinations, notification_config
    )
    values (
      'acme', 'many', 'level:error', 5, 'gt', 5, 5, true, '{email}',
      '{"email": "ada@example.com"}'
    )`;
  await sql`
    insert into logloom_private.notification_addresses (tenant_id, mailbox, confirmed_at, confirmed_by)
    values ('acme', 'ada@example.com', now(), 'u1')`;
  // Just after midnight the oldest are of one day more.
  const days = [3, 2, 1, 0];
  for (const ago of days) {
    await sql`select logloom_private.create_partition(logloom_private.utc_day(now()) - ${ago}::integer)`;
  }
  await sql`
    insert into logloom.logs (
      id, tenant_id, ts, received_at, arrival, level, msg, service, env, req_id, host, attrs
    )
    select gen_random_uuid(), t.tenant_id,
      date_trunc('second', now()) - n % 3 * interval '1 day' - n * interval '1.000001 seconds',
      now(), nextval('logloom_private.arrival'), (array['info', 'error', null])[1 + n % 3],
      case when n % 10 <> 9 then 'record ' || n || ' "ünï" \\ took ' || n / 7.0 end,
      'api', case when n % 2 = 0 then 'prod' end, 'r-' || n, 'web-' || n % 4,
      case n % 4
        when 0 then null
        when 1 then '{"empty": {}, "null": null, "msg": "not the message"}'
        else jsonb_build_object('n', n, 'deep', jsonb_build_object('list', jsonb_build_array(n, null)))
      end
    from (values ('acme', 1500), (${"../a 'quoted' \"ü\""}, 40)) t (tenant_id, records)
    cross join lateral generate_series(1, t.records) n`;
  await sql`
    insert into logloom_private.log_days
    select distinct l.tenant_id, logloom_private.utc_day(l.ts) from logloom.logs l`;
  const [{ sealed }] = await sql`
    select logloom_private.seal_chunk('acme', array[logloom_private.utc_day(now()) - 1]) as sealed`;
  assert.ok(sealed > 300);
}

/** What is the same before and after: rows without what was left behind, and every record's own values. */
async function rowsOf(sql: postgres.Sql): Promise<Record<string, unknown>> {
  const [{ is_old }] = await sql`
    select to_regclass('logloom_private.sealed_chunks') is not null as is_old`;
  const [rows] = await sql`
    select
      (select jsonb_agg(to_jsonb(t) order by tenant_id) from logloom.tenants t) as tenants,
      (select jsonb_agg(to_jsonb(t) - '{chosen_at,view_id}'::text[] order by user_id)
        from logloom.tenant_members t) as members,
      (select jsonb_agg(to_jsonb(t)) from logloom.tenant_settings t) as settings,
      (select jsonb_agg(to_jsonb(t) - '{display,view_id}'::text[]) from logloom.saved_searches t) as searches,
      -- Without what a round that comes meanwhile writes.
      (select jsonb_agg(
          to_jsonb(t) - '{asked_at,last_evaluated_at,last_value,view_id}'::text[]
            - '{notify_on_recovery,for_minutes,on_absent,group_wait_seconds}'::text[]
            - 'notification_secrets'
        )
        from logloom.alert_rules t) as rules,
      (select jsonb_agg(to_jsonb(t)) from logloom_private.notification_addresses t) as addresses,
      (select jsonb_agg(jsonb_build_array(p.plan_id, p.max_alerts, p.is_default) order by p.plan_id)
        from logloom.plans p) as plans`;
  if (!is_old) return { ...rows, records: before };
  const all = `(select * from logloom.logs union all
    select r.* from logloom_private.sealed_chunks c
    cross join lateral logloom_private.chunk_records(c.tenant_id, c.chunk_id, null, null, null) r)`;
  [{ contents: before }] = await sql`${contents(sql, all)}`;
  return { ...rows, records: before };
}

let before: unknown;

function contents(sql: postgres.Sql, source: string) {
  return sql`
    select md5(string_agg(l.tenant_id || l.record, e'\n' order by l.tenant_id, l.ts, l.record)) as contents
    from (
      select s.tenant_id, s.ts, jsonb_build_array(
        extract(epoch from s.ts), s.level, s.msg, s.service, s.env, s.req_id, s.user_id, s.route,
        s.host, s.attrs
      )::text as record
      from ${sql.unsafe(source)} s
    ) l`;
}

function tokenOf(tenant: string): string {
  const now = Math.floor(Date.now() / 1000);
  return signToken({
    aud: "authenticated",
    iat: now,
    exp: now + 3600,
    role: "authenticated",
    sub: "u1",
    tenant_id: tenant,
  });
}
