import assert from "node:assert/strict";
import { isReady } from "../support/client.ts";
import { openDatabase } from "../support/database.ts";
import { eventually, pause } from "../support/eventually.ts";
import { signalIfThere } from "../support/processes.ts";

// Backends that seal, merge, replace, erase and unseal are killed while late records arrive. At every moment a search
// must find as many records as the counts have, and a held snapshot must find the same as before.

const kills = Number(Deno.env.get("SEALING_KILLS") ?? 3);

/** Runs statements in one round trip; undefined if they fail because of a kill or a lock. */
async function survives(statements: string): Promise<Row[][] | undefined> {
  await using sql = openDatabase(undefined, 1, { isCut: true });
  try {
    // Connects as the service's owner, like the jobs.
    await sql.unsafe("set role postgres");
    return await sql.unsafe(statements).simple() as unknown as Row[][];
  } catch (error) {
    const { code = "" } = error as { code?: string };
    if (!/^(57P0\d|55P03|40P01|08\w+|CONNECTION_\w+|ECONN\w+|EPIPE)$/.test(code)) throw error;
    await pause(50);
  }
}

type Row = Record<string, string | null>;

Deno.test(`${kills} kills while days are sealed lose and double nothing`, async () => {
  const tenant = `sealing-${crypto.randomUUID()}`;
  const { day, settings, insert } = await begin(tenant);
  const add = (records: number) => `
    begin;
    select pg_advisory_xact_lock(logloom_private.lock_key('writer'));
    select logloom_private.create_partition('${day}');
    ${
    insert.replaceAll("$1", `'${tenant}'`).replaceAll("$2", `'${day}'`).replaceAll(
      "$3",
      `${records}`,
    )
  };
    commit`;
  const seen = seenSql(tenant, day);
  await survives(add(1500));

  let stopped = false;
  let at = 30;
  const searches = { count: 0, held: 0, blocks: 0 };
  const loop = async (work: () => Promise<void>) => {
    while (!stopped) await work();
  };
  const working = [
    loop(async () => {
      await survives(add(37));
      await pause(100);
    }),
    loop(async () => {
      const rows = await survives(`begin isolation level repeatable read; ${seen}; commit`);
      if (!rows) return;
      const { found, counted, blocks } = seenAt(rows, 1);
      assert.equal(found, counted);
      searches.count++;
      searches.blocks = Math.max(searches.blocks, Number(blocks));
    }),
    loop(async () => {
      const rows = await survives(
        `begin isolation level repeatable read; ${seen}; select pg_sleep(0.3); ${seen}; commit`,
      );
      if (!rows) return;
      const [before, after] = [seenAt(rows, 1), seenAt(rows, 5)];
      assert.deepEqual(after, before);
      assert.equal(before.found, before.counted);
      searches.held++;
    }),
    loop(async () => {
      const dice = Math.random();
      const step = dice < 0.05
        ? `select logloom_private.unseal_day('${tenant}', '${day}')`
        : dice < 0.15
        ? eraseSql(tenant, day, Math.floor(Math.random() * 1000))
        : `select logloom_private.seal_step_at(now() + interval '${at} hours')::text as rest`;
      const rows = await survives(`
        /* sealing ${tenant} */ begin;
        select pg_advisory_xact_lock(logloom_private.lock_key('deletion'));
        ${step};
        commit`);
      if (dice >= 0.15 && rows && rows[2][0].rest === null) at += 25;
    }),
  ];

  const worked = Promise.all(working);
  let failure: unknown;
  worked.catch((error) => {
    failure = error;
    stopped = true;
  });

  const goOn = async () => {
    const before = { ...searches };
    await eventually(
      "searches go on",
      () =>
        Promise.resolve(
          failure || searches.count > before.count + 3 && searches.held > before.held,
        ),
    );
  };
  try {
    for (let kill = 0; kill < kills; kill++) {
      await goOn();
      await pause(Math.random() * 500);
      const pid = await eventually("something is sealed", async () => {
        const rows = await survives(
          `select pid from pg_stat_activity where query like '%sealing ${tenant} */ begin%'
            and pid <> pg_backend_pid() and state = 'active' and backend_xid is not null; select 1`,
        );
        return rows?.[0][0]?.pid ?? undefined;
      }, { every: 1 });
      signalIfThere(Number(pid), "SIGKILL");
    }
    await goOn();
    await eventually("blocks are searched", () => Promise.resolve(failure || searches.blocks > 0));
  } finally {
    stopped = true;
    await worked;
    await eventually("the settings are back", () => survives(settings));
    await isReady();
  }
  const rows = await survives(`${seen}; select coalesce(sum(d.differences), 0) as differences
    from logloom_private.sealing_days d`);
  assert.ok(rows);
  const seenLast = seenAt(rows, 0);
  assert.equal(seenLast.found, seenLast.counted);
  assert.equal(Number(rows[3][0].differences), 0);
  console.log(
    `${kills} kills, ${searches.count} searches, up to ${searches.blocks} blocks`,
    seenLast,
  );
});

/** Sets small blocks. Returns a day whose week is over, and SQL that restores the settings and adds records. */
async function begin(tenant: string) {
  await using sql = openDatabase(undefined, 1);
  const [{ day, settings, insert }] = await sql`
    select (date_trunc('week', now() at time zone 'UTC') - interval '10 days')::date::text as day,
      format(
        'update logloom_private.settings set seal_block_records = %s, seal_day_records = %s '
          || 'where singleton; select 1',
        s.seal_block_records, s.seal_day_records
      ) as settings,
      logloom_private.added_records_sql(${insertRecords}) as insert
    from logloom_private.settings s`;
  await sql`update logloom_private.settings
    set seal_block_records = 400, seal_day_records = 100 where singleton`;
  await sql`insert into logloom.tenants (tenant_id, plan_id) values (${tenant}, 'pro')`;
  return { day: day as string, settings: settings as string, insert: insert as string };
}

const insertRecords = `
  insert into logloom.logs as l (
    id, tenant_id, ts, received_at, write_seq, level, msg, service, attrs
  )
  select
    gen_random_uuid(), $1,
    $2::date::timestamp at time zone 'UTC' + random() * interval '23 hours',
    now(), nextval('logloom_private.write_seq'), 'info',
    format('request took %s ms', (random() * 1000)::integer),
    (array['api', 'web'])[1 + i % 2], jsonb_build_object('n', i)
  from generate_series(1, $3) i`;

/** Makes three statements for a transaction that keeps its snapshot. */
const seenSql = (tenant: string, day: string) => `
  select s.value::text as found
  from logloom_private.log_stats_of(
    '${tenant}', logloom_private.compile_query('took'),
    tstzrange('${day}T00:00:00Z', '${day}T23:59:59Z'), 10
  ) s;
  select sum(c.events)::text as counted
  from (
    select c.events from logloom_private.log_counts c where c.tenant_id = '${tenant}'
    union all
    select b.events
    from logloom_private.block_counts('${tenant}', '-infinity', 'infinity') b
  ) c;
  select count(*)::text as blocks from logloom_private.blocks c
  where c.tenant_id = '${tenant}'`;

/** Returns the answers of these three statements, of which the first is at `place`. */
const seenAt = (rows: Row[][], place: number): Row =>
  Object.assign({}, ...rows.slice(place, place + 3).map(([row]) => row));

const eraseSql = (tenant: string, day: string, ms: number) => `
  do $erase$
  declare
    v_block_id constant bigint := (
      select s.block_id from logloom_private.blocks s
      where s.tenant_id = '${tenant}' order by random() limit 1
    );
  begin
    perform logloom_private.delete_from_block(
      v_block_id,
      jsonb_populate_record(null::logloom.retention_runs, jsonb_build_object(
        'tenant_id', '${tenant}', 'ts_from', '${day}T00:00:00Z', 'ts_to', '${day}T23:59:59Z'
      )),
      logloom_private.compile_query('"took ${ms} ms"')
    );
  end
  $erase$`;
