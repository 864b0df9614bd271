-- Looks up the positions at which a column has one of the leaf's values. Null if each value has to
-- be tested instead. p_values: the values of the column's dictionary, or of its records.
create function logloom_private.equal_positions(
  p_column logloom_private.block_columns,
  p_values text[],
  p_leaf jsonb
)
returns integer[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_wanted text[];
begin
  if p_leaf ->> 'field' = 'attrs' or (p_leaf -> 'folds_case')::boolean then
    return null;
  end if;
  v_wanted := array(select jsonb_array_elements_text(p_leaf -> 'values'));
  if p_column.kind = 'dictionary' then
    return case when not p_values && v_wanted then '{}' end;
  end if;
  -- Looks up positions, because a column without a dictionary has many values to test.
  return array(
    select distinct p_column.first - 1 + p.position
    from unnest(v_wanted) v (value)
    cross join lateral unnest(array_positions(p_values, v.value)) p (position)
    order by 1
  );
end;
$$;

-- Builds a test of l.value for a range of numbers. Rounds the bounds, because whole numbers compare
-- faster. Null if no number from p_least to p_greatest is in the range.
create function logloom_private.range_test(p_bounds jsonb, p_least bigint, p_greatest bigint)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lower constant numeric := p_bounds ->> 'lower';
  v_upper constant numeric := p_bounds ->> 'upper';
begin
  if v_lower > p_greatest or v_upper < p_least then
    return null;
  end if;
  return concat_ws(
    ' and ',
    'l.value is not null',
    'l.value >' || case when (p_bounds -> 'lower_open')::boolean then ' ' || floor(v_lower)
      else '= ' || ceil(v_lower) end,
    'l.value <' || case when (p_bounds -> 'upper_open')::boolean then ' ' || ceil(v_upper)
      else '= ' || floor(v_upper) end
  );
end;
$$;
