-- Seam: the records that SQL selects, of which those without an id may be null.
create function logloom_private.read_page(p_sql text)
returns public.logloom_log_record[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_logs public.logloom_log_record[];
begin
  execute 'select array(' || p_sql || ')' into v_logs;
  return v_logs;
end;
$$;
