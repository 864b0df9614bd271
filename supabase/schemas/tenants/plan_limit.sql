-- How many of a feature (saved_searches, alerts) a plan includes; null where it does not include
-- it, or there is no such feature.
create function logloom_private.plan_limit(p_plan logloom.plans, p_feature text)
returns integer
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case p_feature
    when 'saved_searches' then case when p_plan.saved_searches then p_plan.max_saved_searches end
    when 'alerts' then case when p_plan.alerts then p_plan.max_alerts end
  end;
end;
$$;
