-- Positions among which are the p_limit records of a block with the outermost steps of p_from to
-- p_to, both included, and all of the last one's step. They are found by the upper part of a step;
-- the outermost value counts for nothing where p_is_cut. Null where they are not found so.
create function logloom_private.outer_positions(
  p_block logloom_private.blocks,
  p_limit integer,
  p_is_descending boolean,
  p_from bigint,
  p_to bigint,
  p_is_cut boolean
)
returns integer[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
as $$
declare
  v_upper "char"[] := p_block.ts_middle;
  -- Of a block of more than some hours.
  v_high smallint[] := p_block.ts_high;
  v_size constant bigint := case when v_high is null then 65536 else 16777216 end;
  v_least constant integer := case when v_high is null then 128 else 32768 end;
  v_last constant bigint := logloom_private.step_at(p_block, p_block.last_ts);
  v_greatest constant bigint := v_last / v_size;
  v_outermost constant bigint := case when p_is_descending then least(p_to, v_last)
    else greatest(p_from, 0) end / v_size;
  v_innermost constant bigint := case when p_is_descending then greatest(p_from, 0)
    else least(p_to, v_last) end / v_size;
  -- As many of these values as hold twice as many records, were they spread evenly.
  v_values constant bigint := least(
    abs(v_innermost - v_outermost) + 1,
    ceil(2.0 * p_limit * (v_greatest + 1) / p_block.records) + p_is_cut::integer
  );
  v_value integer;
  v_found integer[];
  v_positions integer[] := '{}';
  v_count integer := 0;
begin
  if v_upper is null or p_block.ts_top is not null or v_values > v_greatest then
    return null;
  end if;
  if v_values <= 10 then
    for v_at in 0..least(abs(v_innermost - v_outermost), 19) loop
      v_value := v_outermost + case when p_is_descending then -v_at else v_at end;
      v_found := case when v_high is null
        then array_positions(v_upper, (v_value - v_least)::"char")
        else array_positions(v_high, (v_value - v_least)::smallint) end;
      v_positions := v_positions || v_found;
      v_count := v_count
        + case when v_at = 0 and p_is_cut then 0 else cardinality(v_found) end;
      exit when v_count >= p_limit;
    end loop;
  else
    v_value := v_outermost + (v_values - 1) * case when p_is_descending then -1 else 1 end;
    select
      array_agg(v.n),
      count(*) filter (where not p_is_cut or v.value <> v_outermost)
    into v_positions, v_count
    from (
      select
        i.n,
        -- As numbers: bytes have no sign.
        v_least
          + case when v_high is null then v_upper[i.n]::integer else v_high[i.n] end as value
      from generate_series(1, p_block.records) i (n)
      offset 0
    ) v
    where v.value between least(v_value, v_outermost) and greatest(v_value, v_outermost);
  end if;
  return case when v_count >= p_limit or v_value = v_innermost
    then coalesce(v_positions, '{}') end;
end;
$$;

-- Ascending positions of a block's p_limit records of [p_from, p_to) with the first ts in an order,
-- and of all that have the last one's ts; those with the ts p_past besides, which lies at or beyond
-- the range's end that the order begins with.
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
  v_positions integer[] := p_positions;
  v_steps bigint[];
  v_edge bigint;
begin
  if v_positions is null then
    v_positions := logloom_private.outer_positions(
      p_block, p_limit, p_is_descending, v_from, v_to,
      p_past is not null or case when p_is_descending then p_to <= p_block.last_ts
        else p_from > p_block.first_ts end
    );
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
