-- record_bytes at ascending positions of a block, of which there is one at least; 0 or null where
-- it is not known.
create function logloom_private.block_sizes(
  p_block logloom_private.blocks,
  p_positions integer[]
)
returns integer[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_column logloom_private.block_columns;
  v_lower integer;
  v_upper integer;
begin
  select c.* into v_column
  from logloom_private.block_columns c
  where c.tenant_id = p_block.tenant_id and c.block_id = p_block.block_id
    and c.name = 'record_bytes';
  if not found then
    return array_fill(0, array[cardinality(p_positions)]);
  end if;
  v_lower := width_bucket(v_column.first - 1, p_positions) + 1;
  v_upper := width_bucket(v_column.last, p_positions);
  return array_fill(0, array[v_lower - 1])
    || logloom_private.column_texts(v_column, p_positions[v_lower:v_upper])::integer[]
    || array_fill(0, array[cardinality(p_positions) - v_upper]);
end;
$$;
