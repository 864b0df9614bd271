-- Whether all records of a block are within the bounds of a leaf over ts.
create function logloom_private.block_is_within(p_block logloom_private.blocks, p_leaf jsonb)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_bounds constant jsonb := p_leaf -> 'bounds';
begin
  return p_leaf ->> 'field' = 'ts'
    and coalesce((v_bounds ->> 'from')::timestamptz <= p_block.first_ts, true)
    and coalesce((v_bounds ->> 'to')::timestamptz > p_block.last_ts, true);
end;
$$;
