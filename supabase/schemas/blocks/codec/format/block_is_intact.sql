-- Whether a block and its columns are what was stored.
create function logloom_private.block_is_intact(p_block logloom_private.blocks)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_columns logloom_private.block_columns[] := '{}';
  v_column logloom_private.block_columns;
begin
  -- One by one: of a table that is sharded, an array of rows is of another type.
  for v_column in
    select c.*
    from logloom_private.block_columns c
    where c.tenant_id = p_block.tenant_id and c.block_id = p_block.block_id
  loop
    v_columns := v_columns || v_column;
  end loop;
  return p_block.checksum = logloom_private.block_checksum(p_block, v_columns);
end;
$$;
