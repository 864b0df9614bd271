-- What the plan of a tenant says of a feature (saved_searches, alerts), and how many there are,
-- private ones included. A tenant that is not provisioned has the default plan.
create function logloom_private.feature_of(p_tenant_id text, p_feature text)
returns public.logloom_plan_feature
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_plan constant logloom.plans := logloom_private.plan_of(p_tenant_id);
  v_feature public.logloom_plan_feature := row(false, 0, 0);
begin
  if p_feature = 'saved_searches' then
    select v_plan.saved_searches, v_plan.saved_searches::integer * v_plan.max_saved_searches,
      count(*)
    into v_feature
    from logloom.saved_searches s
    where s.tenant_id = p_tenant_id;
  elsif p_feature = 'alerts' then
    select v_plan.alerts, v_plan.alerts::integer * v_plan.max_alerts, count(*)
    into v_feature
    from logloom.alert_rules r
    where r.tenant_id = p_tenant_id;
  end if;
  return v_feature;
end;
$$;
