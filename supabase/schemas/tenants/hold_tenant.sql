-- Provisions the tenant and holds it until the transaction ends: two creates cannot both count
-- before either is done, and so take the last place of a plan.
create function logloom_private.hold_tenant(p_tenant_id text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.provision_tenant(p_tenant_id, logloom_private.claims());
  perform from logloom.tenants t where t.tenant_id = p_tenant_id for no key update;
end;
$$;
