-- Merges small blocks of a tenant into one, within the span of p_days days from p_from: either
-- those that hold their counts or the others. Limited by seal_block_records and seal_block_bytes.
create function logloom_private.merge_small_blocks(
  p_tenant_id text,
  p_from date,
  p_days integer,
  p_hold_counts boolean
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

-- Converts the next block of an older format, in this transaction. False if there is none. A
-- damaged block stays as it is: the error is noted for its day, and the day's other blocks wait
-- too.
create function logloom_private.rewrite_step()
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_block logloom_private.blocks;
begin
  -- The same condition as blocks_older_format_idx, which is mostly empty.
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
