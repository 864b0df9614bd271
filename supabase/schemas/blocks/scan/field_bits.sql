-- A leaf over a field that has a column: a bit a record.
create function logloom_private.field_bits(p_block logloom_private.blocks, p_leaf jsonb)
returns varbit
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_column logloom_private.block_columns;
begin
  select c.* into v_column
  from logloom_private.block_columns c
  where c.tenant_id = p_block.tenant_id and c.block_id = p_block.block_id
    and c.name = p_leaf ->> 'field';
  -- Without a value a leaf is never true.
  return case when v_column.block_id is null then logloom_private.no_bits(p_block.records)
    else logloom_private.column_bits(v_column, p_leaf, p_block.records) end;
end;
$$;
