-- The plan of a tenant; of one that is not there yet, the default plan.
create function logloom_private.plan_of(p_tenant_id text)
returns logloom.plans
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_plan logloom.plans;
begin
  select p.* into v_plan
  from logloom.plans p
  where p.plan_id = coalesce(
    (select t.plan_id from logloom.tenants t where t.tenant_id = p_tenant_id),
    (select d.plan_id from logloom.plans d where d.is_default)
  );
  return v_plan;
end;
$$;
