-- Plans up to p_limit enabled rules that are new or ask something else now. Which ones. One whose
-- query does not compile is not tried again until it changes.
create function logloom_private.plan_alert_rules(p_now timestamptz, p_limit integer)
returns uuid[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rule_id uuid;
  v_planned uuid[] := '{}';
begin
  for v_rule_id in
    select r.rule_id
    from logloom.alert_rules r
    where r.enabled
      and not exists (
        select from logloom_private.planned_alert_rules p where p.rule_id = r.rule_id
      )
    -- In turn, so that a tenant's many rules keep nobody waiting.
    order by row_number() over (partition by r.tenant_id order by r.rule_id), r.rule_id
    limit p_limit
  loop
    begin
      perform logloom_private.plan_alert_rule(v_rule_id, p_now);
    exception when others then
      delete from logloom_private.alert_plans p where p.rule_id = v_rule_id;
      insert into logloom_private.alert_plans (rule_id, query_dsl, window_minutes, refusal)
      select r.rule_id, r.query_dsl, r.window_minutes, sqlerrm
      from logloom.alert_rules r
      where r.rule_id = v_rule_id;
    end;
    v_planned := v_planned || v_rule_id;
  end loop;
  if cardinality(v_planned) < p_limit then
    delete from logloom_private.alert_groups g
    where not exists (select from logloom_private.alert_plans p where p.group_id = g.group_id);
  end if;
  return v_planned;
end;
$$;
