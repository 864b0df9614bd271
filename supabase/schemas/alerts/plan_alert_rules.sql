-- Compiles the queries of up to p_limit enabled rules that are new or ask something else now, and
-- puts each rule into its group. Which ones. One that does not compile is not tried again until it
-- changes.
create function logloom_private.plan_alert_rules(p_now timestamptz, p_limit integer)
returns uuid[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rule logloom.alert_rules;
  v_query logloom_private.compiled_query;
  v_group logloom_private.alert_groups;
  v_updated_at timestamptz;
  v_planned uuid[] := '{}';
begin
  for v_rule in
    select r.*
    from logloom.alert_rules r
    where r.enabled
      and not exists (
        select from logloom_private.planned_alert_rules p where p.rule_id = r.rule_id
      )
    -- In turn, so that a tenant's many rules keep nobody waiting.
    order by row_number() over (partition by r.tenant_id order by r.rule_id), r.rule_id
    limit p_limit
  loop
    delete from logloom_private.alert_plans p where p.rule_id = v_rule.rule_id;
    -- Before the view is read: a change meanwhile is planned anew.
    v_updated_at := (
      select v.updated_at from logloom.log_views v where v.view_id = v_rule.view_id
    );
    begin
      v_group := null;
      v_query := logloom_private.compile_rule(
        v_rule.tenant_id, v_rule.query_dsl, v_rule.view_id, p_now
      );
      if logloom_private.has_partials(v_query) then
        v_group.filter := v_query.filter;
        v_group.number_sql := logloom_private.alert_number_sql(v_query);
      end if;
      v_group.digest := sha256(convert_to(
        case
          when v_group.filter is null
            then jsonb_build_array('window', v_rule.query_dsl, v_rule.window_minutes)
              || coalesce(to_jsonb(v_rule.view_id), '[]')
          else jsonb_build_array(v_group.filter, v_group.number_sql)
        end::text,
        'UTF8'
      ));
      insert into logloom_private.alert_groups (tenant_id, digest, filter, number_sql)
      values (v_rule.tenant_id, v_group.digest, v_group.filter, v_group.number_sql)
      on conflict (tenant_id, digest) do nothing;
      insert into logloom_private.alert_plans (
        rule_id, query_dsl, window_minutes, aggregate, group_id, view_id, view_updated_at
      )
      select
        v_rule.rule_id, v_rule.query_dsl, v_rule.window_minutes,
        coalesce(v_query.aggregate, 'count'), g.group_id, v_rule.view_id, v_updated_at
      from logloom_private.alert_groups g
      where g.tenant_id = v_rule.tenant_id and g.digest = v_group.digest;
    exception
      when lock_not_available or disk_full then
        raise;
      when others then
        insert into logloom_private.alert_plans (
          rule_id, query_dsl, window_minutes, refusal, view_id, view_updated_at
        )
        values (
          v_rule.rule_id, v_rule.query_dsl, v_rule.window_minutes, sqlerrm, v_rule.view_id,
          v_updated_at
        );
    end;
    v_planned := v_planned || v_rule.rule_id;
  end loop;
  if cardinality(v_planned) < p_limit then
    delete from logloom_private.alert_groups g
    where not exists (select from logloom_private.alert_plans p where p.group_id = g.group_id);
  end if;
  return v_planned;
end;
$$;
