-- A field that is a column, of each record of a block.
create function logloom_private.block_field(
  p_block logloom_private.blocks,
  p_name text
)
returns text[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_column logloom_private.block_columns;
  v_texts text[];
begin
  select c.* into v_column
  from logloom_private.block_columns c
  where c.tenant_id = p_block.tenant_id and c.block_id = p_block.block_id and c.name = p_name;
  if not found then
    return array_fill(null::text, array[p_block.records]);
  end if;
  v_texts := logloom_private.column_texts(v_column, null);
  if v_column.first > 1 then
    v_texts := array_fill(null::text, array[v_column.first - 1]) || v_texts;
  end if;
  if v_column.last < p_block.records then
    v_texts := v_texts || array_fill(null::text, array[p_block.records - v_column.last]);
  end if;
  return v_texts;
end;
$$;
