create function public.get_log(p_id uuid default null, p_ts timestamptz default null)
returns public.logloom_log_record
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
begin
  return logloom_private.read_log(null, p_id, p_ts);
end;
$$;

comment on function public.get_log(uuid, timestamptz) is
  'One record. p_ts, its time, finds it at once; without it the search begins at the time of '
  'receipt, which the id holds. Errors: PT400, PT401, PT404, PT408.';
