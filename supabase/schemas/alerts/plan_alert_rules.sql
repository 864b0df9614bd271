-- Returns the parts of a query's partial values (alert_groups.parts), one for each aggregate.
create function logloom_private.alert_parts(p_query logloom_private.compiled_query)
returns text[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select case when a.item ? 'condition'
        then logloom_private.query_sql(a.item -> 'condition', 'l') else 'true' end
      || ', ' || case when a.item ->> 'kind' in ('count', 'rate') then 'null::numeric'
        else 'logloom_private.json_number('
          || logloom_private.query_value_sql(a.item -> 'field', 'l') || ')' end
    from jsonb_array_elements(logloom_private.stats_aggregates(p_query))
      with ordinality a (item, n)
    order by a.n
  );
end;
$$;

-- Returns the aggregates and math of a rule with more than one result; null for other rules.
create function logloom_private.rule_results(p_query logloom_private.compiled_query)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if cardinality(logloom_private.query_result_names(p_query.plan)) > 1 then
    return jsonb_build_object('aggregates', p_query.plan -> 'aggregates')
      || case when p_query.plan ? 'math'
        then jsonb_build_object('math', p_query.plan -> 'math') else '{}' end;
  end if;
  return null;
end;
$$;

-- Whether a window's value can be computed from its minutes.
create function logloom_private.has_partials(p_query logloom_private.compiled_query)
returns boolean
language sql
immutable
return coalesce(
    not jsonb_path_exists(
      p_query.plan -> 'aggregates',
      '$[*] ? (!(@.kind like_regex "^(count|rate|sum|avg|min|max)$") || @.field.field == "ts"
        || @.field.field == "received_at")'
    ),
    true
  )
  and not p_query.names_now
  and cardinality(p_query.by_fields) = 0;

-- After a pause, windows that ended longer ago than this are not evaluated any more. Whole minutes,
-- because windows end at full minutes.
create function logloom_private.alert_catch_up_limit()
returns interval
language sql
immutable
return interval '1 hour';

-- Returns what each group needs in a round:
-- - needed_from: the start of its due windows and of windows that a late record may reopen.
-- - is_due: the round has not evaluated a rule of the group yet.
-- - is_new: no rule of the group was ever evaluated.
-- - due_at: since when a rule of the group has waited.
create function logloom_private.alert_needs(p_round logloom_private.alert_rounds)
returns table (
  group_id bigint, needed_from timestamptz, is_due boolean, is_new boolean, due_at timestamptz
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select
    r.group_id,
    min(
      greatest(
        least(
          r.last_evaluated_at + interval '1 minute' - r.delay, p_round.window_end - s.alert_grace,
          r.reopened_from
        ),
        p_round.window_end - r.delay - logloom_private.alert_catch_up_limit()
      ) - make_interval(mins => r.window_minutes)
    ),
    bool_or(
      r.asked_at < p_round.window_end - r.delay
      and r.last_evaluated_at is distinct from p_round.window_end
    ),
    bool_and(r.last_evaluated_at is null),
    min(coalesce(r.last_evaluated_at, r.asked_at))
  from logloom_private.planned_alert_rules r
  cross join logloom_private.settings s
  where r.group_id is not null
  group by r.group_id;
end;
$$;

-- Compiles a rule's query in its view, but does not write the filter's SQL yet. Raises PT400 if the
-- query reads fields that the view hides, PT403 if the tenant has no such view.
create function logloom_private.compile_rule(
  p_tenant_id text,
  p_query_dsl text,
  p_view_id uuid,
  p_now timestamptz default now()
)
returns logloom_private.compiled_query
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.scoped_query(
    logloom_private.scope_of_view(p_tenant_id, p_view_id, p_now),
    logloom_private.parse_query(p_query_dsl, p_now), p_query_dsl
  );
end;
$$;

-- Compiles the queries of at most p_limit enabled rules that are new or changed, and assigns the
-- rules to groups. Returns the ids of the rules. A query that does not compile is not tried again
-- until its rule changes.
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
    where r.enabled and r.kind = 'query'
      and not exists (
        select from logloom_private.planned_alert_rules p where p.rule_id = r.rule_id
      )
    -- Tenants take turns, so that a tenant with many rules does not delay others.
    order by row_number() over (partition by r.tenant_id order by r.rule_id), r.rule_id
    limit p_limit
  loop
    delete from logloom_private.alert_plans p where p.rule_id = v_rule.rule_id;
    if found then
      -- The rule's query, window or view changed, so its stored values no longer apply.
      delete from logloom_private.rule_values v where v.rule_id = v_rule.rule_id;
    end if;
    -- Read before the view: if the view changes meanwhile, the rule is compiled again.
    v_updated_at := (
      select v.updated_at from logloom.log_views v where v.view_id = v_rule.view_id
    );
    begin
      v_group := null;
      v_query := logloom_private.compile_rule(
        v_rule.tenant_id, v_rule.query_dsl, v_rule.view_id, p_now
      );
      if logloom_private.has_partials(v_query) then
        v_group.filter := logloom_private.query_sql(v_query.tree, 'l');
        v_group.parts := logloom_private.alert_parts(v_query);
      end if;
      v_group.digest := sha256(convert_to(
        case
          when v_group.filter is null
            then jsonb_build_array('window', v_rule.query_dsl, v_rule.window_minutes)
              || coalesce(to_jsonb(v_rule.view_id), '[]')
          else jsonb_build_array(v_group.filter, v_group.parts)
        end::text,
        'UTF8'
      ));
      insert into logloom_private.alert_groups (tenant_id, digest, filter, parts)
      values (v_rule.tenant_id, v_group.digest, v_group.filter, v_group.parts)
      on conflict (tenant_id, digest) do nothing;
      insert into logloom_private.alert_plans (
        rule_id, query_dsl, window_minutes, aggregate, results, group_id, view_id, view_updated_at
      )
      select
        v_rule.rule_id, v_rule.query_dsl, v_rule.window_minutes,
        coalesce(v_query.aggregate, 'count'), logloom_private.rule_results(v_query),
        g.group_id, v_rule.view_id, v_updated_at
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
