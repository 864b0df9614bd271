-- The first UTC day whose records retention leaves to the tenant, were it p_today.
create function logloom_private.first_kept_day(p_tenant_id text, p_today date)
returns date
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from logloom.tenants t where t.tenant_id = p_tenant_id) then
    return p_today - logloom_private.retention_days(p_tenant_id);
  end if;
  -- A tenant that is gone keeps nothing but what may still be on its way.
  return p_today;
end;
$$;
