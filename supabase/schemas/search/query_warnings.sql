create function logloom_private.query_warnings(p_warnings jsonb)
returns public.logloom_query_warning[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_warnings = '[]' then
    return '{}';
  end if;
  return array(
    select jsonb_populate_record(null::public.logloom_query_warning, w.warning)
    from jsonb_array_elements(p_warnings) with ordinality w (warning, n)
    order by w.n
  );
end;
$$;
