-- Creates the tenant on the default plan unless it exists. Raises PT403 for an anonymous sign-in.
create function logloom_private.provision_tenant(p_tenant_id text, p_claims jsonb)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from logloom.tenants t where t.tenant_id = p_tenant_id) then
    return;
  end if;
  perform logloom_private.require_lasting_user(p_claims);
  insert into logloom.tenants (tenant_id, plan_id)
  select p_tenant_id, p.plan_id from logloom.plans p where p.is_default
  on conflict do nothing;
end;
$$;

-- Resolves the tenant of the request, creates it if needed, and returns it. Every operation that
-- can be a tenant's first write calls it.
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
