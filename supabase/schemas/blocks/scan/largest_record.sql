-- The greatest record_bytes of a block, null where it is not known.
create function logloom_private.largest_record(p_block logloom_private.blocks)
returns bigint
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select coalesce(c.greatest, (select max(d::integer) from unnest(c.dictionary) d))
    from logloom_private.block_columns c
    where c.tenant_id = p_block.tenant_id and c.block_id = p_block.block_id
      and c.name = 'record_bytes'
  );
end;
$$;
