-- Of each value whether a test, SQL over l, is true: 1 or 0. p_values of attrs are JSON texts of
-- its key p_key.
create function logloom_private.tested_values(
  p_test text,
  p_field text,
  p_key text,
  p_values text[]
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_bits text;
begin
  execute format(
    $query$
      select string_agg(case when (%1$s) is true then '1' else '0' end, '' order by l.n)
      from (
        select %2$s as %3$I, v.n from unnest($1) with ordinality v (value, n)
      ) l
    $query$,
    p_test,
    case when p_field = 'attrs'
      then format('jsonb_build_object(%L::text, v.value::jsonb)', p_key) else 'v.value' end,
    p_field
  )
  into v_bits
  using p_values;
  return v_bits;
end;
$$;
