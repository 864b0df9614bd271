-- Writes a block anew, with p_days one for each span of so many days, in this transaction. One that
-- is damaged stays as it is, and its day says so.
create function logloom_private.rewrite_block(
  p_block logloom_private.blocks,
  p_days integer default null
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.rewrite_blocks(p_block.tenant_id, array[p_block.block_id], p_days);
exception
  when query_canceled then
    raise;
  when others then
    insert into logloom_private.sealing_days as d (day, checked_at, differences, last_error)
    values (
      logloom_private.utc_day(p_block.first_ts), clock_timestamp(), 1,
      format('%s: %s', sqlstate, sqlerrm)
    )
    on conflict (day) do update
    set differences = d.differences + 1, last_error = excluded.last_error;
end;
$$;
