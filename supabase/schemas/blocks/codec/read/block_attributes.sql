-- attrs at ascending positions of a block, all where null; of p_keys only, where that is given.
create function logloom_private.block_attributes(
  p_block logloom_private.blocks,
  p_positions integer[],
  p_keys text[]
)
returns jsonb[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_texts text[] := logloom_private.attribute_texts(p_block, p_positions, p_keys);
begin
  -- A cast of the array keeps what reading each text takes, until all of them are read.
  return array(select unnest(v_texts)::jsonb);
end;
$$;
