import { Failure } from "../../local/failure.ts";
import { type Figure, thousands } from "./report.ts";
import type { BenchStack } from "./stack.ts";
import { setPaused } from "./jobs.ts";

/** The range of played time, and its start, in milliseconds. */
export interface PlayedTime {
  began: number;
  first: number;
  last: number;
  seconds: number;
}

/**
 * Makes the job seal by played time: waits of six hours, or a day, shrink like all days; it runs every second.
 */
export async function sealByPlayedTime({ sql }: BenchStack, time: PlayedTime): Promise<void> {
  const speed = (time.last - time.first) / (time.seconds * 1000);
  await sql.unsafe(`
    create schema bench;
    grant usage, create on schema bench to postgres;
    set role postgres;
    create table bench.seal_steps (
      began timestamptz not null, ended timestamptz not null, records bigint not null
    );
    create function bench.played_time() returns timestamptz language sql volatile
    return least(
      to_timestamp(${time.first / 1000})
        + (clock_timestamp() - to_timestamp(${time.began / 1000})) * ${speed},
      clock_timestamp()
    );
    create function logloom_private.played_seal_step() returns interval language plpgsql volatile as $$
    declare
      v_began constant timestamptz := clock_timestamp();
      v_before bigint;
      v_rest interval;
    begin
      -- Nobody but the step changes blocks meanwhile.
      if not pg_try_advisory_xact_lock(logloom_private.lock_key('deletion')) then
        return interval '100 milliseconds';
      end if;
      select coalesce(sum(c.records), 0) into v_before from logloom_private.blocks c;
      v_rest := logloom_private.seal_step_at(bench.played_time());
      insert into bench.seal_steps
      select v_began, clock_timestamp(), coalesce(sum(c.records), 0) - v_before
      from logloom_private.blocks c
      having coalesce(sum(c.records), 0) > v_before;
      return v_rest;
    end;
    $$;
    reset role`);
  await sql`
    update logloom_private.jobs set step = 'played_seal_step', every = '1 second', next_at = now()
    where name = 'seal_logs'`;
}

/** Waits until no day that is over is due, and ends the job. */
export async function endSealing({ sql }: BenchStack): Promise<void> {
  const end = performance.now() + 120_000;
  for (;;) {
    const [{ due }] = await sql`
      select logloom_private.next_day_to_seal(bench.played_time()) is not null
        or exists (
          select from logloom_private.sealing_days d
          where d.removed_records > 0
            and (d.replace_after is null or d.replace_after <= bench.played_time())
        ) as due`;
    if (!due) break;
    if (performance.now() > end) {
      throw new Failure("Days are still to be sealed 120 s after the end.");
    }
    await pause(200);
  }
  await setPaused(sql, true, ["seal_logs"]);
}

/** Chunks whose last day their tenant does not keep. */
export async function expiredBlocks({ sql }: BenchStack): Promise<number> {
  const [{ blocks }] = await sql`
    select count(*)::integer as blocks
    from logloom_private.blocks c
    join logloom_private.first_kept_days(logloom_private.utc_day(now())) k using (tenant_id)
    where c.last_ts < logloom_private.day_start(k.first_kept_day)`;
  return blocks;
}

/** A tenant's stored records, read one by one. */
export interface Stored {
  tenant_id: string;
  rows: number;
  sealed: number;
  ids: number;
  /** Records of the days that it keeps. */
  kept: number;
}

export async function storedRecords({ sql }: BenchStack): Promise<Stored[]> {
  return await sql<Stored[]>`
    select r.tenant_id, count(*) filter (where not r.is_sealed)::float8 as rows,
      count(*) filter (where r.is_sealed)::float8 as sealed,
      count(distinct r.id)::float8 as ids,
      count(*) filter (where r.ts >= logloom_private.day_start(k.first_kept_day))::float8 as kept
    from (
      select l.tenant_id, l.id, l.ts, false as is_sealed from logloom.logs l
      union all
      select c.tenant_id, s.id, s.ts, true
      from logloom_private.blocks c
      cross join lateral logloom_private.block_records(
        c.tenant_id, c.block_id, null, array['id', 'ts']
      ) s
    ) r
    join logloom_private.first_kept_days(logloom_private.utc_day(now())) k using (tenant_id)
    group by 1`;
}

/** Bytes of all blocks, including free space and indexes. */
export async function sizeOfSealed({ sql }: BenchStack): Promise<number> {
  const [{ bytes }] = await sql`
    select (pg_total_relation_size('logloom_private.blocks')
      + pg_total_relation_size('logloom_private.block_columns'))::float8 as bytes`;
  return bytes;
}

/** `rowBytes`: the size of a record as a row with its indexes. */
export async function sealingFigures(
  bench: BenchStack,
  rowBytes: number,
  seconds: number,
): Promise<Figure[]> {
  const { sql } = bench;
  const bytes = await sizeOfSealed(bench);
  const [stored] = await sql`
    select count(*)::float8 as blocks, coalesce(sum(c.records), 0)::float8 as records,
      count(*) filter (where c.last_ts - c.first_ts > interval '1 day')::float8 as weeks
    from logloom_private.blocks c`;
  const [steps] = await sql`
    select count(*)::float8 as steps, sum(s.records)::float8 as records,
      sum(extract(epoch from s.ended - s.began))::float8 as seconds,
      max(extract(epoch from s.ended - s.began))::float8 as slowest
    from bench.seal_steps s`;
  const [{ differences, error }] = await sql`
    select coalesce(sum(d.differences), 0)::integer as differences,
      coalesce(max(d.last_error), 'none') as error
    from logloom_private.sealing_days d`;
  return [
    { name: "records sealed", value: thousands(steps.records) },
    {
      name: "… of which stored now, blocks, those of several days",
      value: [stored.records, stored.blocks, stored.weeks].map(thousands).join(", "),
    },
    {
      name: "… a second of the job's time, its share of the run",
      value: `${thousands(steps.records / steps.seconds)}, ${
        (100 * steps.seconds / seconds).toFixed(0)
      } %`,
    },
    { name: "… slowest step, s", value: steps.slowest.toFixed(1) },
    {
      name: "… bytes a record as a row, sealed",
      value: `${rowBytes.toFixed(0)}, ${(bytes / stored.records).toFixed(0)}`,
      limit: "≤ 1/3",
      holds: bytes / stored.records <= rowBytes / 3,
    },
    {
      name: "sealed records, MB",
      value: (bytes / 1e6).toFixed(0),
    },
    {
      name: "blocks that differed from their records, last error",
      value: `${differences}, ${error}`,
      limit: "0, none",
      holds: differences === 0 && error === "none",
    },
  ];
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
