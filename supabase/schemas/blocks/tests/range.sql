-- A range of numbers over a column of whole numbers: a bit a record. Null where values
-- are tested.
create function logloom_private.range_bits_of_numbers(
  p_column logloom_private.block_columns,
  p_leaf jsonb,
  p_records integer
)
returns varbit
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
as $$
declare
  v_bounds constant jsonb := p_leaf -> 'bounds';
  v_numbers integer[] := p_column.numbers;
  v_lower numeric;
  v_upper numeric;
  v_bits text;
begin
  if p_leaf ->> 'decided_by' <> 'numbers' or p_column.kind <> 'numbers'
    -- A path that goes on within the value finds nothing in a number.
    or jsonb_array_length(p_leaf -> 'path') > 1
      and substr(p_column.name, 7) is distinct from p_leaf ->> 'joined'
  then
    return null;
  end if;
  v_lower := v_bounds ->> 'lower';
  v_upper := v_bounds ->> 'upper';
  -- Beyond what the column holds a bound decides nothing.
  if v_lower > p_column.greatest or v_upper < p_column.least then
    return logloom_private.no_bits(p_records);
  end if;
  v_lower := case
    when v_lower is null then p_column.least
    when (v_bounds ->> 'lower_open')::boolean then greatest(floor(v_lower) + 1, p_column.least)
    else greatest(ceil(v_lower), p_column.least)
  end;
  v_upper := case
    when v_upper is null then p_column.greatest
    when (v_bounds ->> 'upper_open')::boolean then least(ceil(v_upper) - 1, p_column.greatest)
    else least(floor(v_upper), p_column.greatest)
  end;
  if v_numbers is not null then
    select string_agg(case when c.v between v_lower::bigint and v_upper::bigint
      then '1' else '0' end, '' order by c.n)
    into v_bits
    from unnest(v_numbers) with ordinality c (v, n);
  else
    select string_agg(case when c.v between v_lower::bigint and v_upper::bigint
      then '1' else '0' end, '' order by c.n)
    into v_bits
    from unnest(p_column.wide_numbers) with ordinality c (v, n);
  end if;
  return logloom_private.widen_bits(v_bits, p_column.first, p_records, false);
end;
$$;
