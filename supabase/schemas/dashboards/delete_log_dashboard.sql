create function public.delete_log_dashboard(p_dashboard_id uuid default null)
returns public.logloom_success
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_user_id constant text := logloom_private.require_user_id();
begin
  perform logloom_private.require_parameter('p_dashboard_id', p_dashboard_id is null);
  delete from logloom.log_dashboards d
  where d.tenant_id = v_tenant_id and d.dashboard_id = p_dashboard_id and d.created_by = v_user_id;
  if not found then
    perform logloom_private.refuse_log_dashboard(p_dashboard_id);
  end if;
  return row(true)::public.logloom_success;
end;
$$;

comment on function public.delete_log_dashboard(uuid) is
  'Deletes a dashboard. Errors: PT400, PT401, PT403 (a colleague''s), PT404.';
