-- Provisions the tenant of the request and holds it; PT400 when its plan has no room for one more
-- dashboard.
create function logloom_private.require_room_for_log_dashboard()
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role may hold a tenant, and a plan counts what a colleague keeps private
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_max integer;
begin
  perform logloom_private.hold_tenant(v_tenant_id);
  v_max := (logloom_private.plan_of(v_tenant_id)).max_log_dashboards;
  if (select count(*) from logloom.log_dashboards d where d.tenant_id = v_tenant_id) >= v_max then
    perform logloom_private.refuse('dashboards.no_room', v_max::text);
  end if;
end;
$$;
