import assert from "node:assert/strict";
import { apiKey, call, createKey, health, ingest, isReady, newTenant } from "../support/client.ts";
import { callAsOwner, type Database, openDatabase } from "../support/database.ts";
import { becomes, eventually } from "../support/eventually.ts";
import { complete, outcomeOf, Sender } from "../support/sender.ts";

const lanes = ["write", "send", "tend"];

/** Returns the process of each lane. */
async function workers(db: Database): Promise<Map<string, number>> {
  const rows = await db`
    select pid, split_part(query, '''', 2) as lane
    from pg_stat_activity
    where query like 'call logloom_private.work(%' and state = 'active'`;
  return new Map(rows.map(({ lane, pid }) => [lane, pid]));
}

Deno.test("a lane whose process was ended gets another one within fifteen seconds", async () => {
  await using db = openDatabase();
  const ended = await eventually("all lanes are at work", async () => {
    const found = await workers(db);
    return lanes.every((lane) => found.has(lane)) && found;
  });
  const [{ at }] = await db`
    select clock_timestamp() as at, count(pg_terminate_backend(p))
    from unnest(${[...ended.values()]}::integer[]) p`;
  for (const lane of lanes) {
    await eventually(`${lane} is at work again`, async () => {
      const pid = (await workers(db)).get(lane);
      return pid !== undefined && pid !== ended.get(lane);
    });
  }
  const starts = await db`
    select j.jobname, min(d.start_time) < ${at}::timestamptz + interval '15 seconds' as in_time
    from cron.job_run_details d join cron.job j using (jobid)
    where j.jobname = any (${lanes.map((lane) => `logloom_${lane}`)}) and d.start_time > ${at}
    group by 1 order by 1`;
  assert.deepEqual([...starts], [
    { jobname: "logloom_send", in_time: true },
    { jobname: "logloom_tend", in_time: true },
    { jobname: "logloom_write", in_time: true },
  ]);
});

Deno.test("a run of a lane ends before a short statement_timeout", async () => {
  await using db = openDatabase();
  await db.unsafe("alter role postgres set statement_timeout = '4s'");
  try {
    const [{ at }] = await db`select clock_timestamp() as at`;
    // The current run began with the old setting.
    await db`select pg_terminate_backend(p) from unnest(${[
      ...(await workers(db)).values(),
    ]}::integer[]) p`;
    const runs = await eventually("two runs of each lane have ended", async () => {
      const rows = await db`
        select j.jobname, count(*)::integer as runs, array_agg(distinct d.status) as outcomes,
          max(d.end_time - d.start_time) < interval '4 seconds' as in_time
        from cron.job_run_details d join cron.job j using (jobid)
        where j.jobname like 'logloom\\_%' and d.start_time > ${at}
          and d.status = 'succeeded'
        group by 1 order by 1`;
      return rows.length === 3 && rows.every((row) => row.runs >= 2) && rows;
    });
    assert.deepEqual(runs.map((row) => [row.jobname, row.outcomes, row.in_time]), [
      ["logloom_send", ["succeeded"], true],
      ["logloom_tend", ["succeeded"], true],
      ["logloom_write", ["succeeded"], true],
    ]);
  } finally {
    await db.unsafe("alter role postgres reset statement_timeout");
  }
});

Deno.test("a step that waits for a lock fails and is tried again, while its lane goes on", async () => {
  await using db = openDatabase();
  await using holder = openDatabase(undefined, 1);
  const job = async (name: string) => {
    const [row] = await db`
      select last_succeeded_at as at, failures, left(last_error, 5) as code
      from logloom_private.jobs where name = ${name}`;
    return row;
  };
  // With this setting the job's row is written every second.
  await db`update logloom_private.jobs set silence = '12 s' where name = 'evaluate_alerts'`;
  await holder.begin(async (held) => {
    await held`lock table logloom_private.notifications in access exclusive mode`;
    const { at } = await job("evaluate_alerts");
    await eventually("send_notifications fails", async () => {
      const { failures, code } = await job("send_notifications");
      return failures > 0 && code === "55P03";
    });
    await eventually("the alerts go on", async () => (await job("evaluate_alerts")).at > at);
  });
  await eventually("it goes on", async () => (await job("send_notifications")).failures === 0);
  await db`update logloom_private.jobs set silence = '3 minutes' where name = 'evaluate_alerts'`;
});

const readOnly = "The database is read-only, try again later";

Deno.test("with a read-only database ingest refuses, searches work and jobs rest; afterwards everything continues", async () => {
  await using db = openDatabase();
  const [tenant, other] = [await newTenant(), await newTenant()];
  const { key_value } = await createKey(tenant, { p_scopes: ["read"] });
  const sender = new Sender(tenant);
  await sender.send(3);
  // Sets the statement timeout like a hosted project.
  await db`alter system set default_transaction_read_only = on`;
  try {
    await db`select pg_reload_conf()`;
    // Until the setting is loaded, events are still accepted.
    const refused = await eventually("an event is refused", async () => {
      const answer = await ingest(other.headers, [{ msg: "no" }]);
      return answer.status === 503 && answer;
    });
    sender.start();
    assert.deepEqual(refused.body, { error: readOnly });
    assert.match(String(refused.headers.get("retry-after")), /^[3-5]$/);
    const { status, body } = await health("/ready");
    const { database } = body.checks as { database: Record<string, string> };
    assert.deepEqual([status, database.status, database.state], [503, "unhealthy", "read_only"]);
    await becomes([200, 300], async () => {
      const found = await call<{ logs: unknown[] }>("/functions/v1/logloom-read/v1/search_logs", {
        method: "POST",
        headers: { "content-type": "application/json", ...apiKey(key_value) },
        body: JSON.stringify({ p_limit: 500 }),
      });
      return [found.status, found.body.logs?.length];
    });
    // Ends the current runs. pg_cron can only start others if it does not log runs.
    await db`select pg_terminate_backend(p) from unnest(${[
      ...(await workers(db)).values(),
    ]}::integer[]) p`;
    await using called = openDatabase(undefined, 1);
    await called`set statement_timeout = '1s'`;
    await callAsOwner(called, "call logloom_private.work('write')");
  } finally {
    await db`alter system reset default_transaction_read_only`;
    await db`select pg_reload_conf()`;
  }
  await isReady();
  await sender.stop();
  assert.ok(sender.repeats > 0);
  assert.deepEqual(await outcomeOf(db, tenant), complete(sender));
});
