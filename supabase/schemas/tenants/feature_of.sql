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
  if p_feature in ('saved_searches', 'alerts') then
    execute format(
      'select ($1).%1$I, ($1).%1$I::integer * ($1).%2$I, count(*) from logloom.%3$I t '
        'where t.tenant_id = $2',
      p_feature, 'max_' || p_feature,
      case p_feature when 'alerts' then 'alert_rules' else p_feature end
    )
    into v_feature
    using v_plan, p_tenant_id;
  end if;
  return v_feature;
end;
$$;
