-- Ascending positions of a block's p_limit records of [p_from, p_to) with the first ts in an order,
-- and of all that have the last one's ts; those with the ts p_past besides, which lies at or beyond
-- the range's end that the order begins with. p_positions: of these alone.
create function logloom_private.first_positions(
  p_block logloom_private.blocks,
  p_positions integer[],
  p_limit integer,
  p_is_descending boolean,
  p_past timestamptz,
  p_from timestamptz default '-infinity',
  p_to timestamptz default 'infinity'
)
returns integer[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
as $$
declare
  v_sign constant bigint := case when p_is_descending then -1 else 1 end;
  v_past constant bigint := case when p_past >= p_block.first_ts
    then logloom_private.step_at(p_block, p_past) end;
  v_from constant bigint := logloom_private.step_at(p_block, p_from);
  v_to constant bigint := logloom_private.step_at(p_block, p_to) - 1;
  v_last constant bigint := logloom_private.step_at(p_block, p_block.last_ts);
  -- The upper part of a step: ts_high where the block is of more than some hours.
  v_middle "char"[] := p_block.ts_middle;
  v_high smallint[] := p_block.ts_high;
  v_size constant bigint := case when v_high is null then 65536 else 16777216 end;
  v_outermost constant bigint := case when p_is_descending then v_to else v_from end / v_size;
  v_innermost constant bigint := case when p_is_descending then v_from else v_to end / v_size;
  -- Not all records of the outermost one count.
  v_is_cut constant boolean := p_past is not null
    or case when p_is_descending then v_to < v_last else v_from > 0 end;
  -- As many of these values as hold twice as many records, were they spread evenly.
  v_values constant bigint := v_is_cut::integer
    + ceil(2.0 * p_limit * (v_last / v_size + 1) / p_block.records);
  v_value integer;
  v_found integer[];
  v_count integer := 0;
  v_positions integer[] := p_positions;
  v_steps bigint[];
  v_edge bigint;
begin
  if p_positions is null and v_middle is not null and p_block.ts_top is null
    and v_values <= least(v_last / v_size, 30)
  then
    for v_at in 0..least(abs(v_innermost - v_outermost), 2 * v_values) loop
      v_value := v_outermost + v_sign * v_at;
      v_found := case when v_high is null then array_positions(v_middle, (v_value - 128)::"char")
        else array_positions(v_high, (v_value - 32768)::smallint) end;
      v_positions := v_positions || v_found;
      v_count := v_count + case when v_at = 0 and v_is_cut then 0 else cardinality(v_found) end;
      exit when v_count >= p_limit;
    end loop;
    -- Else all are looked at.
    if v_count < p_limit and v_value <> v_innermost then
      v_positions := null;
    end if;
  end if;
  v_steps := logloom_private.block_steps(p_block, v_positions);
  v_edge := (
    array(
      select s.step
      from unnest(v_steps) s (step)
      where s.step between v_from and v_to and s.step is distinct from v_past
      order by v_sign * s.step
      limit p_limit
    )
  )[p_limit];
  return array(
    select coalesce(v_positions[s.n], s.n::integer) as position
    from unnest(v_steps) with ordinality s (step, n)
    where s.step between v_from and v_to
      and (v_edge is null or v_sign * s.step <= v_sign * v_edge or s.step = v_past)
    order by position
  );
end;
$$;
