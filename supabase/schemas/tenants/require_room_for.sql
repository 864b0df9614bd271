-- Provisions the tenant of the request and holds it; PT400 when its plan has no room for one more
-- of a feature (saved_searches, alerts).
create function logloom_private.require_room_for(p_feature text, p_tenant_id text default null)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role may hold a tenant, and a plan counts what a colleague keeps private
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_limit integer;
begin
  perform logloom_private.hold_tenant(v_tenant_id);
  v_limit := coalesce(
    logloom_private.plan_limit(logloom_private.plan_of(v_tenant_id), p_feature), 0
  );
  if logloom_private.count_of_feature(v_tenant_id, p_feature) >= v_limit then
    perform logloom_private.refuse('tenants.plan_has_no_room', p_feature, v_limit::text);
  end if;
end;
$$;

grant execute on function logloom_private.require_room_for(text, text)
to authenticated, service_role;
