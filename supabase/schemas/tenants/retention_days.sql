-- The retention in force, in days: what the tenant set, else the default of its plan, never more
-- than the plan allows. Of a tenant that is not there yet: the default plan's.
create function logloom_private.retention_days(p_tenant_id text)
returns integer
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_plan constant logloom.plans := logloom_private.plan_of(p_tenant_id);
begin
  return least(
    coalesce(
      (select s.retention_days from logloom.tenant_settings s where s.tenant_id = p_tenant_id),
      v_plan.retention_days_default
    ),
    v_plan.retention_days_max
  );
end;
$$;
