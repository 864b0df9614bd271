-- Adds the records at p_positions of a block (null: all its records) to log_counts. With p_sign -1,
-- subtracts them.
create function logloom_private.count_sealed(
  p_block logloom_private.blocks,
  p_positions integer[],
  p_sign integer
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into logloom_private.log_counts (tenant_id, minute, service, level, events)
  select
    p_block.tenant_id, date_bin('1 minute', r.ts, 'epoch'), r.service, r.level,
    p_sign * count(*)
  from logloom_private.sealed_records(p_block, p_positions, array['ts', 'service', 'level']) r
  group by 2, 3, 4
  order by 2;
end;
$$;

-- Recounts the records of a UTC day. An operator calls it after inserting or deleting records by
-- hand, or after a restore. Waits for the writer, and blocks the writer until the recount ends.
create function logloom_private.recount_records(p_day date)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
-- The operator's date style might print an abbreviation of the time zone that is not unique.
set timezone = 'UTC'
set datestyle = 'ISO'
as $$
begin
  -- With these locks, nobody adds, deletes, seals or compacts records.
  perform pg_advisory_xact_lock(logloom_private.lock_key('deletion'));
  perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
  perform pg_advisory_xact_lock(logloom_private.lock_key('log_counts'));
  lock table logloom_private.log_counts in share row exclusive mode;
  -- Goes by tenant, because the index begins with the tenant.
  delete from logloom_private.log_counts c
  using (
    select d.tenant_id from logloom_private.log_days d where d.day = p_day
    union
    select s.tenant_id
    from logloom_private.blocks s
    where s.last_ts >= logloom_private.day_start(p_day)
      and s.first_ts < logloom_private.day_start(p_day + 1)
  ) t
  where c.tenant_id = t.tenant_id
    and c.minute >= logloom_private.day_start(p_day)
    and c.minute < logloom_private.day_start(p_day + 1);
  delete from logloom_private.log_days d where d.day = p_day;
  delete from logloom_private.log_writes a where a.day = p_day;
  execute format(
    $query$
      with records as materialized (
        select l.tenant_id, l.ts, l.service, l.level, l.write_seq, false as holds_counts
        from logloom.logs l
        where l.ts >= %2$L::timestamptz and l.ts < %3$L::timestamptz
        union all
        select r.tenant_id, r.ts, r.service, r.level, r.write_seq, c.holds_counts
        from logloom_private.blocks c,
          logloom_private.block_records(
            c.tenant_id, c.block_id, null, array['ts', 'service', 'level', 'write_seq']
          ) r
        where c.last_ts >= %2$L::timestamptz and c.first_ts < %3$L::timestamptz
          and r.ts >= %2$L::timestamptz and r.ts < %3$L::timestamptz
      ), days as (
        insert into logloom_private.log_days (tenant_id, day)
        select distinct l.tenant_id, %1$L::date
        from logloom.logs l
        where l.ts >= %2$L::timestamptz and l.ts < %3$L::timestamptz
      ), write_seqs as (
        insert into logloom_private.log_writes (write_seq, day)
        select max(l.write_seq), %1$L::date
        from records l
        having count(*) > 0
      )
      insert into logloom_private.log_counts (tenant_id, minute, service, level, events)
      select l.tenant_id, date_bin('1 minute', l.ts, 'epoch'), l.service, l.level, count(*)
      from records l
      where not l.holds_counts
      group by 1, 2, 3, 4
      order by 1, 2
    $query$,
    p_day, p_day::timestamp at time zone 'UTC', (p_day + 1)::timestamp at time zone 'UTC'
  );
end;
$$;
