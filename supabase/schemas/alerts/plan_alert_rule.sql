-- Compiles a rule's query and puts the rule into its group.
create function logloom_private.plan_alert_rule(p_rule_id uuid, p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rule logloom.alert_rules;
  v_query logloom_private.compiled_query;
  v_plan logloom_private.alert_plans;
  v_number_sql text;
  v_digest bytea;
begin
  delete from logloom_private.alert_plans p where p.rule_id = p_rule_id;
  select r.* into v_rule from logloom.alert_rules r where r.rule_id = p_rule_id;
  v_query := logloom_private.compile_query(v_rule.query_dsl, p_now);
  v_plan.aggregate := coalesce(v_query.aggregate, 'count');
  v_plan.names_now := v_query.names_now;
  if logloom_private.has_partials(v_plan.aggregate) and not v_plan.names_now
    and cardinality(v_query.by_fields) = 0
  then
    v_number_sql := logloom_private.alert_number_sql(v_plan.aggregate, v_query.aggregate_field);
    v_digest := sha256(convert_to(jsonb_build_array(v_query.filter, v_number_sql)::text, 'UTF8'));
    insert into logloom_private.alert_groups (tenant_id, digest, filter, number_sql)
    values (v_rule.tenant_id, v_digest, v_query.filter, v_number_sql)
    on conflict (tenant_id, digest) do nothing;
    select g.group_id into v_plan.group_id
    from logloom_private.alert_groups g
    where g.tenant_id = v_rule.tenant_id and g.digest = v_digest;
  end if;
  insert into logloom_private.alert_plans (
    rule_id, tenant_id, query_dsl, aggregate, aggregate_sql, filter, tree, names_now,
    by_fields, by_sql, group_id
  )
  values (
    p_rule_id, v_rule.tenant_id, v_rule.query_dsl, v_plan.aggregate,
    coalesce(v_query.aggregate_sql, 'count(*)::double precision'), v_query.filter,
    v_query.tree, v_plan.names_now, v_query.by_fields, v_query.by_sql, v_plan.group_id
  );
end;
$$;
