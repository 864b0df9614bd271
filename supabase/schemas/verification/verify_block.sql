-- What is wrong with a block, null where nothing is: its checksum, and whether it decodes to as
-- many records as it says, within its bounds, each with an id of its own. is_intact: whether it is
-- what was stored; null where that could not be told.
create function logloom_private.verify_block(
  p_block logloom_private.blocks,
  out is_intact boolean,
  out detail text
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_found record;
begin
  is_intact := logloom_private.block_is_intact(p_block);
  if not is_intact then
    detail := 'its checksum differs';
    return;
  end if;
  select
    count(*) as records, min(r.ts) as first_ts, max(r.ts) as last_ts,
    count(distinct r.id) as ids
  into v_found
  from logloom_private.sealed_records(p_block, null, null) r;
  detail := case
    when v_found.records <> p_block.records
      then format('%s records instead of %s', v_found.records, p_block.records)
    when v_found.first_ts <> p_block.first_ts or v_found.last_ts <> p_block.last_ts
      then format('records from %s to %s', v_found.first_ts, v_found.last_ts)
    when v_found.ids <> v_found.records
      then format('%s ids of %s records', v_found.ids, v_found.records)
  end;
exception
  when query_canceled or lock_not_available or disk_full then
    raise;
  -- Whatever a damaged value makes of its decoding: the next block is verified all the same.
  when others then
    detail := format('%s: %s', sqlstate, sqlerrm);
    -- The disk's own errors; another one, as of a lock or of memory, says nothing about the block.
    if sqlstate like 'XX%' then
      is_intact := false;
    end if;
end;
$$;
