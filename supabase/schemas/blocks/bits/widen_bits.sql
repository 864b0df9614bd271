-- The bits of a column, which begins at position p_first, as bits of all records; p_outside: the
-- bit of the others.
create function logloom_private.widen_bits(
  p_bits text,
  p_first integer,
  p_records integer,
  p_outside boolean
)
returns varbit
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_fill constant text := case when p_outside then '1' else '0' end;
begin
  return (
    repeat(v_fill, p_first - 1) || p_bits
      || repeat(v_fill, p_records - p_first + 1 - length(p_bits))
  )::varbit;
end;
$$;
