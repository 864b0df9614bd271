import assert from "node:assert/strict";
import { type Database, openDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";

const lanes = ["write", "send", "tend"];

/** The processes that work through the lanes. */
async function workers(db: Database): Promise<Map<string, number>> {
  const rows = await db`
    select pid, split_part(query, '''', 2) as lane
    from pg_stat_activity
    where query like 'call logloom_private.work(%' and state = 'active'`;
  return new Map(rows.map(({ lane, pid }) => [lane, pid]));
}

Deno.test("each lane whose process is ended has another one at most fifteen seconds later", async () => {
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

Deno.test("with a short statement_timeout runs end before it", async () => {
  await using db = openDatabase();
  await db.unsafe("alter role postgres set statement_timeout = '4s'");
  try {
    const [{ at }] = await db`select clock_timestamp() as at`;
    // The one that is at work began with the old one.
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
