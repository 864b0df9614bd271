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
