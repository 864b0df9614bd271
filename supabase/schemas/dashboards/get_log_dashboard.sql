create function public.get_log_dashboard(p_dashboard_id uuid default null)
returns public.logloom_log_dashboard
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_found public.logloom_log_dashboard;
begin
  -- Whoever may not look is told so before what is missing.
  select (logloom_private.log_dashboard_of(d)).* into v_found
  from logloom_private.read_shown_dashboards(p_dashboard_id) d;
  perform logloom_private.require_parameter('p_dashboard_id', p_dashboard_id is null);
  if v_found.dashboard_id is null then
    perform logloom_private.refuse('dashboards.not_found');
  end if;
  return v_found;
end;
$$;

comment on function public.get_log_dashboard(uuid) is
  'A dashboard of the caller, or one that a colleague shares. Errors: PT400, PT401, PT403, PT404.';
