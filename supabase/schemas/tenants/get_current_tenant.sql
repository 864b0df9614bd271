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

grant execute on function logloom_private.tenant_with_plan(text) to authenticated, service_role;

create function public.get_current_tenant(p_tenant_id text default null)
returns public.logloom_tenant
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_result constant public.logloom_tenant := logloom_private.tenant_with_plan(v_tenant_id);
begin
  if v_result.tenant_id is null then
    perform logloom_private.refuse('tenants.not_found');
  end if;
  return v_result;
end;
$$;

comment on function public.get_current_tenant(text) is
  'The tenant with its plan and limits. Errors: PT400, PT401, PT403, PT404.';
