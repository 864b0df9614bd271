-- Writes the next block of an older format anew, in this transaction. False where there is none.
-- The others of a day with a damaged block wait with it.
create function logloom_private.rewrite_step()
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_block logloom_private.blocks;
begin
  -- As the condition of blocks_older_format_idx, which is empty most of the time.
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
  perform logloom_private.rewrite_block(v_block);
  return true;
end;
$$;
