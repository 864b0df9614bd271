-- ts at positions of a block, all where null, as steps of ts_unit from first_ts on.
create function logloom_private.block_steps(
  p_block logloom_private.blocks,
  p_positions integer[]
)
returns bigint[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
as $$
declare
  v_low smallint[] := p_block.ts_low;
  v_middle "char"[] := p_block.ts_middle;
  v_high smallint[] := p_block.ts_high;
  v_top "char"[] := p_block.ts_top;
  v_steps bigint[];
begin
  if p_positions is null then
    -- unnest() where a row is made takes a third of the time that it takes after "from".
    v_steps := array(
      select o.low + 32768 + coalesce(o.middle::integer + 128, 0) * 65536
        + coalesce(o.high + 32768, 0) * 16777216::bigint
      from (
        select unnest(v_low) as low, unnest(v_middle) as middle, unnest(v_high) as high
      ) o
    );
  else
    v_steps := array(
      select v_low[p.position] + 32768 + coalesce(v_middle[p.position]::integer + 128, 0) * 65536
        + coalesce(v_high[p.position] + 32768, 0) * 16777216::bigint
      from unnest(p_positions) with ordinality p (position, n)
      order by p.n
    );
  end if;
  -- Of few blocks: months in microseconds.
  if v_top is not null then
    if p_positions is not null then
      v_top := array(select v_top[unnest(p_positions)]);
    end if;
    v_steps := array(
      select o.step + (o.top::integer + 128) * 1099511627776
      from (select unnest(v_steps) as step, unnest(v_top) as top) o
    );
  end if;
  return v_steps;
end;
$$;
