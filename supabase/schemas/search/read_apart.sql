-- The records that SQL selects. A subtransaction that is rolled back gives its locks back.
create function logloom_private.read_apart(p_sql text)
returns public.logloom_log_record[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_logs public.logloom_log_record[];
begin
  begin
    execute 'select array(' || p_sql || ')' into v_logs;
    raise sqlstate 'LL002';
  exception when sqlstate 'LL002' then
    null;
  end;
  return v_logs;
end;
$$;
