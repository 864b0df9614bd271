-- Converts the next block of an older format, in this transaction. Returns false if there is none.
-- A damaged block is not converted. The error is noted for its day, and the day's other blocks
-- wait.
create function logloom_private.rewrite_step()
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_block logloom_private.blocks;
begin
  -- The same condition as blocks_older_format_idx, so this reads that index. It is mostly empty.
  select c.* into v_block
  from logloom_private.blocks c
  where c.format < 1 and logloom_private.utc_day(c.first_ts) <> all (
    array(select d.day from logloom_private.sealing_days d where d.differences > 0)
  )
  order by c.block_id
  limit 1;
  if v_block.block_id is null then
    return false;
  end if;
  begin
    perform logloom_private.rewrite_blocks(v_block.tenant_id, array[v_block.block_id]);
  exception
    when query_canceled or lock_not_available or disk_full then
      raise;
    when others then
      insert into logloom_private.sealing_days as d (day, checked_at, differences, last_error)
      values (
        logloom_private.utc_day(v_block.first_ts), clock_timestamp(), 1,
        format('%s: %s', sqlstate, sqlerrm)
      )
      on conflict (day) do update
      set differences = d.differences + 1, last_error = excluded.last_error;
  end;
  return true;
end;
$$;

-- Merges a tenant's small blocks with p_kept_days into one. The blocks lie within the p_days days
-- from p_from. p_hold_counts true: blocks that hold their counts; false: the others. The new block
-- stays within seal_block_records and seal_block_bytes.
create function logloom_private.merge_small_blocks(
  p_tenant_id text,
  p_from date,
  p_days integer,
  p_hold_counts boolean,
  p_kept_days integer default null
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings logloom_private.settings;
  v_block_ids bigint[];
begin
  select s.* into v_settings from logloom_private.settings s;
  select array_agg(m.block_id) into v_block_ids
  from (
    select
      w.block_id,
      sum(w.records) over (order by w.first_ts, w.block_id) as records,
      sum(w.weight) over (order by w.first_ts, w.block_id) as weight
    from logloom_private.blocks w
    where w.tenant_id = p_tenant_id
      and w.holds_counts = p_hold_counts
      and w.kept_days is not distinct from p_kept_days
      and w.first_ts >= logloom_private.day_start(p_from)
      and w.last_ts >= logloom_private.day_start(p_from)
      and w.last_ts < logloom_private.day_start(p_from + p_days)
      and w.records < case
        when p_hold_counts then v_settings.seal_day_records
        else v_settings.seal_block_records / 2
      end
  ) m
  where m.records <= v_settings.seal_block_records
    and m.weight <= v_settings.seal_block_bytes;
  if cardinality(v_block_ids) > 1 then
    perform logloom_private.rewrite_blocks(p_tenant_id, v_block_ids);
  end if;
end;
$$;

-- Does one step of a pass over a day: makes and merges a block, or moves on to the next tenant.
-- Returns false if the pass is over.
create function logloom_private.seal_day_step(p_day date, p_now timestamptz)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_state logloom_private.sealing_days;
  v_tenant_id text;
  v_kept_days integer;
  v_last_kept_days integer;
  v_together record;
  v_span integer;
  v_records integer := 0;
begin
  insert into logloom_private.sealing_days (day) values (p_day) on conflict do nothing;
  select d.* into v_state from logloom_private.sealing_days d where d.day = p_day for update;
  if logloom_private.partition_exists(p_day) then
    execute format(
      'select min(l.tenant_id) from only logloom.%I l where $1 is null or l.tenant_id > $1',
      logloom_private.partition_name(p_day)
    )
    into v_tenant_id
    using v_state.checked_through;
  end if;
  if v_tenant_id is null then
    update logloom_private.sealing_days d
    set checked_at = p_now, checked_through = null
    where d.day = p_day;
    return false;
  end if;
  begin
    select c.kept_days into v_last_kept_days
    from logloom_private.blocks c
    where c.tenant_id = v_tenant_id
    order by c.block_id desc
    limit 1;
    -- Records that are kept for different numbers of days have different blocks. Begins with the
    -- number of days of the newest block: another number may cost a scan of all remaining rows.
    for v_kept_days in
      select k.days
      from (
        select null::integer
        union
        select r.days
        from logloom.tenant_settings s
        cross join unnest(s.retention_rules) r
        where s.tenant_id = v_tenant_id
      ) k (days)
      order by k.days is distinct from v_last_kept_days, k.days nulls first
    loop
      v_together :=
        logloom_private.days_to_seal_together(v_tenant_id, p_day, p_now, v_kept_days);
      continue when v_together.days is null;
      v_records := logloom_private.seal_block(
        v_tenant_id, v_together.days, v_together.are_small, v_kept_days
      );
      exit when v_records > 0;
    end loop;
    -- The new block may be small, for example the last of a day or one of late records.
    if v_records > 0 then
      v_span := case
        when v_together.are_small
          then logloom_private.block_days(
            coalesce(v_kept_days, logloom_private.retention_days(v_tenant_id))
          )
        else 1
      end;
      perform logloom_private.merge_small_blocks(
        v_tenant_id, logloom_private.span_start(p_day, v_span), v_span, v_together.are_small,
        v_kept_days
      );
      perform logloom_private.leave_days(array[v_tenant_id], v_together.days);
    end if;
  exception
    when query_canceled or lock_not_available or disk_full then
      raise;
    when others then
      -- The records stay rows. The next pass tries again.
      update logloom_private.sealing_days d
      set differences = d.differences + (sqlstate = 'LL001')::integer,
        last_error = format('%s: %s', sqlstate, sqlerrm)
      where d.day = p_day;
      v_records := 0;
  end;
  if v_records = 0 then
    update logloom_private.sealing_days d
    set checked_through = v_tenant_id
    where d.day = p_day;
  end if;
  return true;
end;
$$;

-- Returns the pause between two blocks, for others to use the disk.
create function logloom_private.seal_pause()
returns interval
language sql
immutable
return interval '20 milliseconds';

-- Prepares or replaces the partition of a sealed day, to free its space. Returns the pause before
-- the next step; null if no day is due.
create function logloom_private.replacement_step(p_now timestamptz)
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_state logloom_private.sealing_days;
  v_outcome text;
begin
  select d.* into v_state
  from logloom_private.sealing_days d
  where d.removed_records > 0 and d.checked_through is null and d.checked_at is not null
    and (d.replace_after is null or d.replace_after <= p_now)
  order by d.day
  limit 1;
  if not found then
    return null;
  elsif v_state.prepared_by is null then
    if not logloom_private.prepare_replacement(v_state.day) then
      update logloom_private.sealing_days d
      set replace_after = p_now + logloom_private.seal_again_after()
      where d.day = v_state.day;
    end if;
    return interval '0';
  end if;
  v_outcome := logloom_private.replace_partition(v_state.day);
  if v_outcome <> 'replaced' then
    update logloom_private.sealing_days d
    set replace_after = p_now + interval '10 seconds'
    where d.day = v_state.day;
  end if;
  return logloom_private.seal_pause();
end;
$$;

-- Does the work of seal_step as of p_now.
create function logloom_private.seal_step_at(p_now timestamptz)
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_day date;
  v_pause interval;
begin
  -- Queued events come first.
  if (logloom_private.queue_state()).depth
    > (select s.seal_queue_events from logloom_private.settings s)
  then
    return null;
  elsif not pg_try_advisory_xact_lock(logloom_private.lock_key('deletion')) then
    return interval '100 milliseconds';
  end if;
  v_day := logloom_private.next_day_to_seal(p_now);
  if v_day is null then
    v_pause := logloom_private.replacement_step(p_now);
    -- Converting old blocks comes last, because nothing waits for it.
    if v_pause is null and logloom_private.rewrite_step() then
      return logloom_private.seal_pause();
    end if;
    return v_pause;
  end if;
  perform logloom_private.seal_day_step(v_day, p_now);
  return logloom_private.seal_pause();
end;
$$;

-- Runs a step of the job seal_logs: seals the next due block, replaces a partition to free its
-- space, or converts an older block. Returns the pause before the next step; null if nothing is due
-- or the queue is long. If the step is killed, nothing is lost.
create function logloom_private.seal_step()
returns interval
language sql
return logloom_private.seal_step_at(clock_timestamp());
