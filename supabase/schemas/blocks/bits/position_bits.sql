-- p_records bits, those at the ascending positions set.
create function logloom_private.position_bits(p_positions integer[], p_records integer)
returns varbit
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if coalesce(cardinality(p_positions), 0) = 0 then
    return logloom_private.no_bits(p_records);
  end if;
  return (
    (
      select string_agg(repeat('0', p.position - p.before - 1) || '1', '' order by p.position)
      from (
        select x.position, lag(x.position, 1, 0) over (order by x.position) as before
        from unnest(p_positions) x (position)
      ) p
    ) || repeat('0', p_records - p_positions[cardinality(p_positions)])
  )::varbit;
end;
$$;
