-- What every first write calls: resolves the tenant of the request, provisions it, returns it.
create function logloom_private.provision_current_tenant(p_tenant_id text default null)
returns text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role may insert tenants or choose a plan
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
begin
  perform logloom_private.provision_tenant(v_tenant_id, logloom_private.claims());
  return v_tenant_id;
end;
$$;
