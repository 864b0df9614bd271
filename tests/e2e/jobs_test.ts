import assert from "node:assert/strict";
import { createRule } from "../support/alert_rules.ts";
import { clientOf, ingest, newTenant, rpc, type Tenant } from "../support/client.ts";
import {
  changeConstant,
  changeSettings,
  countRecords,
  type Database,
  openDatabase,
  queueIsEmpty,
  recordsOf,
  runWriter,
  stopJob,
  stopWriter,
} from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { ownDatabase } from "../support/own_database.ts";
import { putOnPlan } from "../support/plans.ts";

// A run of pg_cron is one statement, and statement_timeout cancels the whole statement. Here each job has a timeout of
// 3 seconds and more work than fits. On a hosted project the timeout of postgres is 2 minutes.

const hosted = "3s";

interface Job {
  name: string;
  last_succeeded_at: Date | null;
  last_error: string | null;
  last_failed_at: Date | null;
}

/** Runs a job; a cancelled run throws. */
async function runJob(name: string, timeout = hosted): Promise<void> {
  await using session = openDatabase(undefined, 1);
  await session.unsafe(`set role postgres; set statement_timeout = '${timeout}'`);
  const [{ now }] = await session`select clock_timestamp() as now`;
  await session.unsafe(`call logloom_private.run_job('${name}')`);
  const [job] = await session<Job[]>`
    select j.name, j.last_succeeded_at, j.last_failed_at, j.last_error
    from logloom_private.jobs j
    where j.name = ${name} and j.last_started_at >= ${now}`;
  assert.ok(job, `${name} notes its run`);
  assert.ok(job.last_failed_at === null || job.last_failed_at < now, `${name}: ${job.last_error}`);
}

/**
 * Runs a job until its work is done, and returns the number of runs. On a very slow machine a run may be cancelled, and
 * the next one continues.
 */
async function runsOf(
  name: string,
  isDone: () => Promise<boolean>,
  timeout = hosted,
): Promise<number> {
  let cancelled = 0;
  // This limit suffices for a machine of any speed.
  for (let runs = 1; runs <= 600; runs++) {
    try {
      await runJob(name, timeout);
    } catch (error) {
      // The cancellation is an error, or noted with the job.
      const { code, message } = error as { code?: string; message: string };
      const isCancelled = code === "57014" || message.includes(": 57014: ");
      if (!isCancelled || ++cancelled > 2 + runs / 2) throw error;
    }
    if (await isDone()) return runs;
  }
  throw new Error(`${name} does not come to its end`);
}

/** Keeps the records as rows, because blocks would be deleted in one step. */
async function keepRows({ token }: Tenant): Promise<void> {
  await clientOf(token).call("update_tenant_settings", { pipeline_config: { compression: false } });
}

async function sendDaysAgo(tenant: Tenant, days: number, events: number): Promise<void> {
  const ts = new Date(Date.now() - days * 86_400_000).toISOString();
  const body = Array.from({ length: events }, (_, n) => ({ ts, msg: "old", n }));
  assert.equal((await ingest(tenant.headers, body)).body.ingested, events);
}

Deno.test("retention continues where the last run stopped", async () => {
  await using db = openDatabase();
  await using _job = await stopJob(db, "run_retention");
  const [keeper, loser] = [await newTenant(), await newTenant()];
  for (const tenant of [keeper, loser]) {
    await putOnPlan(db, tenant, { retention_days_default: 30, retention_days_max: 30 });
  }
  await sendDaysAgo(keeper, 15, 1);
  await keepRows(loser);
  await sendDaysAgo(loser, 15, 100);
  await recordsOf(db, loser.id, 100);
  await putOnPlan(db, loser, { retention_days_default: 7, retention_days_max: 7 });
  await using _pace = await changeSettings(db, {
    deletion_step_records: 10,
    deletion_pause: "300 milliseconds",
  });
  await db`delete from logloom_private.retention_place`;
  const day = new Date().getUTCDate();
  const left: number[] = [];
  const runs = await runsOf("run_retention", async () => {
    left.push(await countRecords(db, loser.id));
    const [place] = await db`select finished_at from logloom_private.retention_place`;
    return place.finished_at !== null;
  });
  assert.ok(runs > 1 && left.some((records) => records > 0 && records < 100), `${left}`);
  assert.deepEqual([left.at(-1), await countRecords(db, keeper.id)], [0, 1]);
  const body = await clientOf(loser.token).call("list_log_retention_runs", {});
  assert.equal(body.reduce((sum, { records }) => sum + Number(records), 0), 100);
  // After midnight the next day's run deletes the rest, and has a row of its own.
  if (day !== new Date().getUTCDate()) return;
  assert.deepEqual(body.map(({ status }) => status), ["done"]);
});

Deno.test("an erasure continues where the last run stopped", async () => {
  await using db = openDatabase();
  await using _job = await stopJob(db, "run_deletions");
  const tenant = await newTenant();
  await keepRows(tenant);
  await sendDaysAgo(tenant, 1, 100);
  await recordsOf(db, tenant.id, 100);
  await using _pace = await changeSettings(db, {
    deletion_step_records: 10,
    deletion_pause: "300 milliseconds",
  });
  const ordered = await rpc(tenant.token, "delete_logs", {
    p_query_dsl: "*",
    p_ts_from: new Date(Date.now() - 2 * 86_400_000),
    p_ts_to: new Date(),
    p_dry_run: false,
  });
  assert.equal(ordered.status, 200);
  await queueIsEmpty(db);
  const left: number[] = [];
  const runs = await runsOf("run_deletions", async () => {
    left.push(await countRecords(db, tenant.id));
    const body = await clientOf(tenant.token).call("list_log_retention_runs", {});
    return body[0].status === "done";
  });
  assert.ok(runs > 1 && left.some((records) => records > 0 && records < 100), `${left}`);
  assert.equal(left.at(-1), 0);
});

Deno.test("an alert round evaluates every tenant once, in as many runs as it takes", async () => {
  await using db = openDatabase();
  await using _job = await stopJob(db, "evaluate_alerts");
  const tenants = await Promise.all(Array.from({ length: 12 }, () => newTenant()));
  for (const tenant of tenants) await createRule(tenant, { p_name: "slow", p_threshold: 0 });
  // Makes the rules older, so that the next round has all of them.
  await db`update logloom.alert_rules set asked_at = now() - interval '1 hour' where name = 'slow'`;
  await using _pace = await changeConstant(db, "alert_step_rules", "2");
  // Every evaluation of one of these rules takes a quarter of a second.
  await db.unsafe(`
    create function public.slow_rule() returns trigger language plpgsql as $$
    begin
      if old.last_evaluated_at is distinct from new.last_evaluated_at then
        perform pg_catalog.pg_sleep(0.25);
      end if;
      return new;
    end $$;
    create trigger slow_rule before update on logloom.alert_rules
    for each row when (new.name = 'slow') execute function public.slow_rule();`);
  try {
    const evaluated = async () => {
      const [{ count }] = await db`
        select count(*)::integer from logloom.alert_rules
        where tenant_id = any(${tenants.map(({ id }) => id)}) and last_evaluated_at is not null`;
      return count as number;
    };
    await eventually("a minute has passed", async () => {
      // A cancelled run has also evaluated some rules.
      const error = await runJob("evaluate_alerts").then(() => null, (error) => error);
      const isBegun = (await evaluated()) > 0;
      if (error && !isBegun) throw error;
      return isBegun;
    }, { every: 500 });
    const first = await evaluated();
    assert.ok(first > 0 && first < tenants.length, `${first}`);
    await runsOf("evaluate_alerts", async () => (await evaluated()) === tenants.length);
  } finally {
    await db.unsafe("drop function public.slow_rule() cascade");
    await db`update logloom.alert_rules set enabled = false where name = 'slow'`;
  }
});

Deno.test("the writer moves a long queue in several runs", async () => {
  await using db = openDatabase();
  const tenant = await newTenant();
  await using _pace = await changeSettings(db, { writer_step_events: 100 });
  await using _writer = await stopWriter(db);
  await runWriter(db);
  for (let request = 0; request < 20; request++) {
    const events = Array.from({ length: 100 }, (_, n) => ({ msg: "waiting", n }));
    assert.equal((await ingest(tenant.headers, events)).status, 200);
  }
  // Each step takes a twentieth of a second, a run half a second.
  await db.unsafe(`
    create function public.slow_step() returns trigger language plpgsql as $$
    begin
      perform pg_catalog.pg_sleep(0.05);
      return new;
    end $$;
    create trigger slow_step before update on logloom_private.queue_slots
    for each row when (new.moved_through > old.moved_through)
    execute function public.slow_step();`);
  try {
    const counts: number[] = [];
    const runs = await runsOf("write_logs", async () => {
      counts.push(await countRecords(db, tenant.id));
      return counts.at(-1) === 2_000;
    }, "1s");
    assert.ok(runs > 1 && counts[0] > 0, `${counts}`);
  } finally {
    await db.unsafe("drop function public.slow_step() cascade");
  }
});

Deno.test("a run of the writer continues while more than one step is waiting", async () => {
  await using db = openDatabase();
  const tenant = await newTenant();
  await using _pace = await changeSettings(db, { writer_step_events: 100 });
  await using _writer = await stopWriter(db);
  await runWriter(db);
  for (let request = 0; request < 4; request++) {
    const events = Array.from({ length: 1_000 }, (_, n) => ({ msg: "waiting", n }));
    assert.equal((await ingest(tenant.headers, events)).status, 200);
  }
  assert.equal(
    await runsOf("write_logs", async () => await countRecords(db, tenant.id) === 4_000, "10min"),
    1,
  );
});

/** Adds rows past their lifetime to a table that a purge empties in batches. */
const oldRows: Record<string, (db: Database, rows: number) => Promise<() => Promise<number>>> = {
  "audit events": async (db, rows) => {
    await db`
      insert into logloom.audit_events (tenant_id, occurred_at, actor, action, subject)
      select 'of-old', now() - interval '500 days', 'a', 'plan.changed', n::text
      from generate_series(1, ${rows}::integer) n`;
    return () => countOf(db, "logloom.audit_events where tenant_id = 'of-old'");
  },
  "alerts": async (db, rows) => {
    const tenant = await newTenant();
    await ingest(tenant.headers, [{ msg: "makes the tenant" }]);
    await db`
      insert into logloom.alert_history (tenant_id, rule_id, value, threshold, triggered_at)
      select ${tenant.id}, gen_random_uuid(), n, 0, now() - interval '500 days'
      from generate_series(1, ${rows}::integer) n`;
    return () => countOf(db, `logloom.alert_history where tenant_id = '${tenant.id}'`);
  },
  "rate buckets": async (db, rows) => {
    await db`
      insert into logloom_private.rate_buckets (tenant_id, events, requests, filled_at)
      select 'of-old-' || n, 0, 0, now() - interval '2 days'
      from generate_series(1, ${rows}::integer) n`;
    return () => countOf(db, "logloom_private.rate_buckets where tenant_id like 'of-old-%'");
  },
  "idempotency keys": async (db, rows) => {
    const tenant = await newTenant();
    await ingest(tenant.headers, [{ msg: "makes the tenant" }]);
    await db`
      insert into logloom_private.idempotency_keys (
        tenant_id, idempotency_key, body_digest, response, created_at
      )
      select ${tenant.id}, n::text, '', '{}', now() - interval '2 days'
      from generate_series(1, ${rows}::integer) n`;
    return () => countOf(db, `logloom_private.idempotency_keys where tenant_id = '${tenant.id}'`);
  },
  "job history": async (db, rows) => {
    await db`
      insert into cron.job_run_details (jobid, runid, command, status, end_time)
      select 0, -n, 'call logloom_private.write_logs()', 'succeeded', now() - interval '2 days'
      from generate_series(1, ${rows}::integer) n`;
    return () => countOf(db, "cron.job_run_details where runid < 0");
  },
};

async function countOf(db: Database, table: string): Promise<number> {
  const [{ count }] = await db.unsafe(`select count(*)::integer from ${table}`);
  return count;
}

for (const rows of ["audit events", "job history"]) {
  Deno.test(`old ${rows} are deleted batch by batch, in as many runs as it takes`, async () => {
    const name = rows === "job history" ? "purge_job_history" : "purge_old_rows";
    await using db = openDatabase();
    await using _job = await stopJob(db, name);
    await using _pace = await changeSettings(db, {
      deletion_step_records: 10,
      deletion_pause: "300 milliseconds",
    });
    const left = await oldRows[rows](db, 100);
    const counts: number[] = [];
    const runs = await runsOf(name, async () => {
      counts.push(await left());
      return counts.at(-1) === 0;
    });
    assert.ok(runs > 1 && counts.some((rows) => rows > 0 && rows < 100), `${counts}`);
  });
}

Deno.test("a run goes on to the next table when one has no old rows left", async () => {
  await using db = openDatabase();
  await using _job = await stopJob(db, "purge_old_rows");
  const tables = ["alerts", "rate buckets", "idempotency keys"];
  const lefts = await Promise.all(tables.map((rows) => oldRows[rows](db, 100)));
  await runJob("purge_old_rows");
  assert.deepEqual(await Promise.all(lefts.map((left) => left())), [0, 0, 0]);
});

Deno.test("jobs with a single step end in time", async () => {
  await using db = openDatabase();
  for (const name of ["maintain_partitions", "compact_log_counts"]) {
    // The scheduled run would change the noted start.
    await using _job = await stopJob(db, name);
    await runJob(name);
  }
});

Deno.test("a cancelled step stores its error with the job", async () => {
  await using db = openDatabase(undefined, 1);
  await db.unsafe(`
    create function logloom_private.sleeping_step() returns void language plpgsql as $$
    begin
      perform pg_catalog.pg_sleep(60);
    end $$;
    insert into logloom_private.jobs (name, lane, step, every, silence)
    values ('sleeper', 'ingest', 'sleeping_step', '1 hour', '1 hour')`);
  try {
    await db.unsafe("set statement_timeout = '2s'");
    await db.unsafe("call logloom_private.run_job('sleeper')");
    const [job] = await db<Job[]>`select * from logloom_private.jobs where name = 'sleeper'`;
    assert.equal(job.last_succeeded_at, null);
    assert.match(job.last_error ?? "", /^57014: /);
  } finally {
    await db.unsafe("set statement_timeout = 0");
    await db`delete from logloom_private.jobs where name = 'sleeper'`;
    await db.unsafe("drop function logloom_private.sleeping_step()");
  }
});

Deno.test("each step of a job sees changes made while it waited, whatever isolation level the project has", async () => {
  await using sql = await ownDatabase("isolated");
  await sql.unsafe(`
    create table public.levels (level text);
    create function logloom_private.step() returns interval language plpgsql as $$
    begin
      insert into public.levels values (current_setting('transaction_isolation'));
      return case when (select count(*) from public.levels) < 3 then interval '1 millisecond' end;
    end;
    $$;
    insert into logloom_private.jobs (name, lane, step, every, silence)
    values ('step', 'ingest', 'step', '1 hour', '1 hour');
    set default_transaction_isolation = 'repeatable read'`);
  await sql.unsafe("call logloom_private.run_job('step')");
  const levels = await sql`select level from public.levels`;
  assert.deepEqual(levels.map(({ level }) => level), Array(3).fill("read committed"));
});

Deno.test("events that were queued while the writer waited are metered, whatever isolation level the project has", async () => {
  await using sql = await ownDatabase("metered", 2);
  await sql.unsafe(`
    create or replace function logloom_private.max_unmetered_batches() returns integer
    language sql immutable return 0;
    create or replace function logloom_private.enqueue_wait() returns interval
    language sql immutable return interval '60s';
    insert into logloom.tenants (tenant_id, plan_id)
    select 'acme', p.plan_id from logloom.plans p where p.is_default`);
  const writer = await sql.reserve();
  let written: Promise<unknown> = Promise.resolve();
  await sql.begin(async (sender) => {
    await sender`select public.ingest_text(
      '{"p_tenant_id": "acme", "p_bytes": 100, "p_ts": [null], "p_msg": ["a"]}')`;
    await writer`set default_transaction_isolation = 'repeatable read'`;
    written = writer`call logloom_private.run_job('write_logs')`.execute();
    await eventually("the writer waits for the sender", async () => {
      const [{ waits }] = await sender`
        select exists (
          select from pg_locks l
          where l.locktype = 'advisory' and not l.granted
            and l.database = (select d.oid from pg_database d where d.datname = current_database())
        ) as waits`;
      return waits;
    });
  });
  await written;
  const [{ level }] =
    await writer`select current_setting('default_transaction_isolation') as level`;
  const [{ events }] = await sql`
    select sum(u.events)::integer as events
    from logloom.usage_days u where u.tenant_id = 'acme'`;
  writer.release();
  assert.deepEqual([level, events], ["repeatable read", 1]);
});
