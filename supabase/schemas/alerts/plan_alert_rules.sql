-- Notes that a rule's query does not compile: it is not tried again until it changes.
create function logloom_private.refuse_alert_plan(p_rule_id uuid, p_refusal text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from logloom_private.alert_plans p where p.rule_id = p_rule_id;
  insert into logloom_private.alert_plans (
    rule_id, tenant_id, query_dsl, aggregate, aggregate_sql, filter, tree, names_now, refusal
  )
  select
    r.rule_id, r.tenant_id, r.query_dsl, 'count', '0', 'false', '{"type": "none"}', false,
    p_refusal
  from logloom.alert_rules r
  where r.rule_id = p_rule_id;
end;
$$;

-- Plans up to p_limit enabled rules that are new or ask something else now. Which ones.
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
    select u.rule_id
    from (
      select
        r.rule_id, row_number() over (partition by r.tenant_id order by r.rule_id) as place
      from logloom.alert_rules r
      left join logloom_private.alert_plans p on p.rule_id = r.rule_id
      where r.enabled and p.query_dsl is distinct from r.query_dsl
    ) u
    -- In turn, so that a tenant's many rules keep nobody waiting.
    order by u.place, u.rule_id
    limit p_limit
  loop
    begin
      perform logloom_private.plan_alert_rule(v_rule_id, p_now);
    exception when others then
      perform logloom_private.refuse_alert_plan(v_rule_id, sqlerrm);
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
