-- The settings in force for a tenant. PT404 before its first write.
create function logloom_private.effective_settings(p_tenant_id text)
returns public.logloom_tenant_settings
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_result public.logloom_tenant_settings;
begin
  select
    t.tenant_id,
    row(logloom_private.retention_days(t.tenant_id), coalesce(s.compression, true)),
    row(coalesce(s.email_enabled, true), coalesce(s.webhook_enabled, true))
  into v_result
  from logloom.tenants t
  left join logloom.tenant_settings s on s.tenant_id = t.tenant_id
  where t.tenant_id = p_tenant_id;
  if not found then
    perform logloom_private.refuse('tenants.settings_not_found');
  end if;
  return v_result;
end;
$$;
