-- The start of the minute.
create function logloom_private.whole_minute(p_at timestamptz)
returns timestamptz
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return date_bin('1 minute', p_at, 'epoch');
end;
$$;

-- Plans and groups

-- The numeric expression of an aggregate over an attribute's numbers, over the alias l.
-- The number that an aggregate takes of a record, as SQL over the alias l.
create function logloom_private.alert_number_sql(p_aggregate text, p_field text)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_aggregate in ('count', 'rate') then
    return 'null::numeric';
  end if;
  return 'logloom_private.json_number('
    || logloom_private.query_value_sql(logloom_private.query_field(p_field, 1), 'l') || ')';
end;
$$;

-- Whether the aggregate of a window follows from those of its minutes.
create function logloom_private.has_partials(p_aggregate text)
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return p_aggregate in ('count', 'rate', 'sum', 'avg', 'min', 'max');
end;
$$;

-- Compiles a rule's query and puts the rule into its group.
create function logloom_private.plan_alert_rule(p_rule_id uuid, p_now timestamptz)
returns void
language plpgsql
volatile
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

-- Notes that a rule's query does not compile: it is not tried again until it changes.
create function logloom_private.refuse_alert_plan(p_rule_id uuid, p_refusal text)
returns void
language plpgsql
volatile
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
volatile
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

-- By who makes or changes a rule, so that no round has to compile it.
-- Compiles an enabled rule of the caller's tenant where it is new or asks something else now.
create function logloom_private.plan_own_alert_rule(p_tenant_id text, p_rule_id uuid)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because the API roles see neither plans nor groups
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
begin
  if exists (
    select
    from logloom.alert_rules r
    left join logloom_private.alert_plans p on p.rule_id = r.rule_id
    where r.rule_id = p_rule_id
      and r.tenant_id = v_tenant_id
      and r.enabled
      and p.query_dsl is distinct from r.query_dsl
  ) then
    perform logloom_private.plan_alert_rule(p_rule_id, now());
  end if;
exception when foreign_key_violation then
  -- Its group was deleted meanwhile, when it had no rule: the evaluator makes both.
  return;
end;
$$;

grant execute on function logloom_private.plan_own_alert_rule(text, uuid)
to authenticated, service_role;
