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
