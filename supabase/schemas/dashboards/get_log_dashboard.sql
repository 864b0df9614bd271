create function public.get_log_dashboard(p_dashboard_id uuid default null)
returns public.logloom_log_dashboard
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_row logloom.log_dashboards;
begin
  perform logloom_private.require_parameter('p_dashboard_id', p_dashboard_id is null);
  select d.* into v_row
  from logloom.log_dashboards d
  where d.tenant_id = v_tenant_id and d.dashboard_id = p_dashboard_id;
  if not found then
    perform logloom_private.refuse_log_dashboard(p_dashboard_id);
  end if;
  return logloom_private.log_dashboard_of(v_row);
end;
$$;

comment on function public.get_log_dashboard(uuid) is
  'A dashboard of the caller, or one that a colleague shares. Errors: PT400, PT401, PT403, PT404.';
