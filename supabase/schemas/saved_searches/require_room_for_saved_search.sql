-- Saved searches of a tenant that its plan counts.
create function logloom_private.count_saved_searches(p_tenant_id text)
returns integer
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (select count(*) from logloom.saved_searches t where t.tenant_id = p_tenant_id);
end;
$$;

-- Provisions the tenant of the request and holds it; PT400 when its plan has no room for one more.
create function logloom_private.require_room_for_saved_search(p_tenant_id text)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role may hold a tenant, and a plan counts what a colleague keeps private
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
begin
  perform logloom_private.hold_tenant(v_tenant_id);
  perform logloom_private.refuse_beyond_plan(
    v_tenant_id, 'saved_searches', logloom_private.count_saved_searches(v_tenant_id)
  );
end;
$$;

grant execute on function logloom_private.require_room_for_saved_search(text)
to authenticated, service_role;
