-- ts at positions of a block, all where null.
create function logloom_private.block_times(
  p_block logloom_private.blocks,
  p_positions integer[]
)
returns timestamptz[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
as $$
declare
  v_first constant timestamptz := p_block.first_ts;
  v_unit constant interval := p_block.ts_unit * interval '1 microsecond';
  v_steps constant bigint[] := logloom_private.block_steps(p_block, p_positions);
begin
  return array(select v_first + v_unit * unnest(v_steps)::double precision);
end;
$$;
