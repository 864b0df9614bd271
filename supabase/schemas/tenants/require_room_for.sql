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
  v_feature public.logloom_plan_feature;
begin
  perform logloom_private.hold_tenant(v_tenant_id);
  v_feature := logloom_private.feature_of(v_tenant_id, p_feature);
  if v_feature."currentCount" >= v_feature."maxCount" then
    perform logloom_private.refuse(
      'tenants.plan_has_no_room', p_feature, v_feature."maxCount"::text
    );
  end if;
end;
$$;
