-- A tenant as operations show it; null members where there is none.
create function logloom_private.tenant_with_plan(p_tenant_id text)
returns public.logloom_tenant
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_result public.logloom_tenant;
begin
  select
    t.tenant_id, p.plan_id, p.plan_name, t.created_at,
    p.monthly_events_limit, p.monthly_bytes_limit,
    row(p.saved_searches, p.max_saved_searches, p.alerts, p.max_alerts)
  into v_result
  from logloom.tenants t
  cross join lateral logloom_private.plan_of(t.tenant_id) p
  where t.tenant_id = p_tenant_id;
  return v_result;
end;
$$;
