-- Compiles a rule's query and puts the rule into its group.
create function logloom_private.plan_alert_rule(p_rule_id uuid, p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rule logloom.alert_rules;
  v_query logloom_private.compiled_query;
  v_aggregate text;
  v_filter text;
  v_number_sql text;
  v_digest bytea;
begin
  delete from logloom_private.alert_plans p where p.rule_id = p_rule_id;
  select r.* into v_rule from logloom.alert_rules r where r.rule_id = p_rule_id;
  v_query := logloom_private.compile_query(v_rule.query_dsl, p_now);
  v_aggregate := coalesce(v_query.aggregate, 'count');
  if logloom_private.has_partials(v_query) then
    v_filter := v_query.filter;
    v_number_sql := logloom_private.alert_number_sql(v_aggregate, v_query.aggregate_field);
  end if;
  v_digest := sha256(convert_to(
    case
      when v_filter is null
        then jsonb_build_array('window', v_rule.query_dsl, v_rule.window_minutes)
      else jsonb_build_array(v_filter, v_number_sql)
    end::text,
    'UTF8'
  ));
  insert into logloom_private.alert_groups (tenant_id, digest, filter, number_sql)
  values (v_rule.tenant_id, v_digest, v_filter, v_number_sql)
  on conflict (tenant_id, digest) do nothing;
  insert into logloom_private.alert_plans (
    rule_id, query_dsl, window_minutes, aggregate, group_id
  )
  select p_rule_id, v_rule.query_dsl, v_rule.window_minutes, v_aggregate, g.group_id
  from logloom_private.alert_groups g
  where g.tenant_id = v_rule.tenant_id and g.digest = v_digest;
end;
$$;
