-- Raises PT400 and PT429 like check_query. Also PT400 if the query has stages other than aggregates
-- and math, or would get a warning. The query of a new_error rule has no stages at all.
create function logloom_private.check_rule_query(
  p_scope logloom_private.reading_scope,
  p_query_dsl text,
  p_kind text default 'query'
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_query constant logloom_private.compiled_query :=
    logloom_private.checked_query(p_query_dsl, p_scope);
begin
  if v_query.plan ? 'first' and (
    p_kind = 'new_error' or not v_query.plan ? 'aggregates' or v_query.plan ? 'bucket'
    or (v_query.plan -> 'count')::integer
      > 1 + coalesce(jsonb_array_length(v_query.plan -> 'math'), 0)
  ) then
    perform logloom_private.refuse_at(
      (v_query.plan -> 'first' ->> 'position')::integer, 'alerts.query_gives_no_number'
    );
  end if;
  perform logloom_private.refuse_warnings(v_query);
end;
$$;

-- Removes repeated destinations and keeps the order.
create function logloom_private.distinct_destinations(p_destinations text[])
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select d.destination
    from unnest(p_destinations) with ordinality d (destination, i)
    group by d.destination
    order by min(d.i)
  );
end;
$$;

-- Returns a rule's secrets (sealed addresses of channels) after applying p_secrets.
create function logloom_private.changed_rule_secrets(p_current jsonb, p_secrets jsonb)
returns jsonb
language sql
immutable
return logloom_private.changed_secrets(
  p_current, nullif(p_secrets, 'null'), '{slack_url,discord_url,teams_url,pagerduty_key}'
);

-- Raises PT400 if p_on_absent is fire and the query has no groups.
create function logloom_private.require_groups(p_query_dsl text, p_on_absent text)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_on_absent = 'fire'
    and cardinality((logloom_private.compile_query(p_query_dsl)).by_fields) = 0
  then
    perform logloom_private.refuse('alerts.absent_needs_groups');
  end if;
end;
$$;

-- Raises PT400 if the plan, or the session of a customer, allows no further rule, and PT403 if an
-- admin stopped a rule of the customer. Locks the tenant.
create function logloom_private.require_room_for_rule(p_scope logloom_private.reading_scope)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rules bigint;
  v_is_held boolean;
  v_feature public.logloom_plan_feature;
begin
  if p_scope.customer is null then
    perform logloom_private.require_room_for('alerts', p_scope.tenant_id);
    return;
  end if;
  perform logloom_private.hold_tenant(p_scope.tenant_id);
  -- A separate statement, so that it counts rules created while hold_tenant waited for the lock.
  select count(*), bool_or(r.held_at is not null) into v_rules, v_is_held
  from logloom.alert_rules r
  where r.tenant_id = p_scope.tenant_id
    and logloom_private.customer_of_view(r.view_id) = p_scope.customer;
  perform logloom_private.require_room_for_customer(p_scope, 'rules', 10, v_rules);
  if v_is_held then
    perform logloom_private.refuse('portal.others_are_held', 'alert rule');
  end if;
  v_feature := logloom_private.feature_of(p_scope.tenant_id, 'alerts');
  if v_feature."currentCount" >= v_feature."maxCount" then
    perform logloom_private.refuse('portal.plan_is_full', 'alert rule');
  end if;
end;
$$;

-- Creates a rule, for public.create_alert_rule. A session's rule is bound to the session's view.
create function logloom_private.make_alert_rule(
  p_scope logloom_private.reading_scope,
  p_tenant_id text,
  p_name text,
  p_description text,
  p_query_dsl text,
  p_threshold double precision,
  p_comparison text,
  p_window_minutes integer,
  p_cooldown_minutes integer,
  p_enabled boolean,
  p_notification_destinations text[],
  p_notification_config jsonb,
  p_view_id uuid,
  p_notify_on_recovery boolean,
  p_for_minutes integer,
  p_on_absent text,
  p_group_wait_seconds integer,
  p_secrets jsonb,
  p_saved_search_id uuid,
  p_baseline jsonb,
  p_kind text
)
returns public.logloom_alert_rule
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because portal sessions have no rights on tables
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.managing_scope(p_scope, 'create_alert_rule', p_tenant_id, 'member');
  v_tenant_id constant text := v_scope.tenant_id;
  v_search logloom.saved_searches;
  v_constraint text;
  v_row logloom.alert_rules;
begin
  perform
    logloom_private.refuse_for_customer(v_scope, 'p_view_id', p_view_id is not null),
    logloom_private.refuse_for_customer(
      v_scope, 'p_saved_search_id', p_saved_search_id is not null
    ),
    -- Error groups are not separated by customer.
    logloom_private.refuse_for_customer(v_scope, 'p_kind new_error', p_kind = 'new_error');
  if p_saved_search_id is not null then
    select s.* into v_search
    from logloom.saved_searches s
    where s.tenant_id = v_tenant_id and s.id = p_saved_search_id
      and (
        s.is_shared or s.created_by = logloom_private.current_user_id()
        or logloom_private.is_service_role()
      );
    if not found then
      perform logloom_private.refuse('saved_searches.not_found');
    end if;
  end if;
  v_search.name := coalesce(p_name, v_search.name);
  v_search.query_dsl := coalesce(p_query_dsl, v_search.query_dsl);
  perform logloom_private.require_parameter('p_name', v_search.name is null);
  if p_kind = 'new_error' then
    v_search.query_dsl := coalesce(nullif(v_search.query_dsl, ''), '*');
    p_threshold := coalesce(p_threshold, 0);
    p_comparison := coalesce(p_comparison, 'gt');
    p_window_minutes := coalesce(p_window_minutes, 1);
    p_cooldown_minutes := coalesce(p_cooldown_minutes, 0);
  else
    perform
      logloom_private.require_parameter('p_query_dsl', v_search.query_dsl is null),
      logloom_private.require_parameter('p_comparison', p_comparison is null),
      logloom_private.require_parameter('p_window_minutes', p_window_minutes is null),
      logloom_private.require_parameter('p_cooldown_minutes', p_cooldown_minutes is null);
  end if;
  v_row := logloom_private.with_baseline(null, p_baseline, p_threshold);
  perform logloom_private.require_parameter('p_enabled', p_enabled is null);
  perform
    logloom_private.check_rule_query(v_scope, v_search.query_dsl, p_kind),
    logloom_private.require_groups(v_search.query_dsl, p_on_absent),
    logloom_private.require_view_by_admin(v_tenant_id, p_view_id),
    logloom_private.hold_view(v_tenant_id, p_view_id),
    logloom_private.scoped_query(
      case when v_scope.customer is null
        then logloom_private.scope_of_view(v_tenant_id, p_view_id) else v_scope end,
      logloom_private.parse_query(v_search.query_dsl), v_search.query_dsl
    ),
    logloom_private.require_room_for_rule(v_scope),
    logloom_private.require_room_for_baseline(v_tenant_id, p_baseline);
  v_row.view_id := case when v_scope.customer is null then p_view_id
    else logloom_private.customer_view(v_scope) end;
  insert into logloom.alert_rules as r (
    tenant_id, name, description, query_dsl, threshold, comparison, window_minutes,
    cooldown_minutes, enabled, notification_destinations, notification_config, created_by, view_id,
    notify_on_recovery, for_minutes, on_absent, group_wait_seconds, notification_secrets,
    baseline_days, kind
  )
  values (
    v_tenant_id, logloom_private.trim_space(v_search.name),
    nullif(logloom_private.trim_space(p_description), ''),
    v_search.query_dsl, v_row.threshold, p_comparison, p_window_minutes, p_cooldown_minutes,
    p_enabled,
    logloom_private.distinct_destinations(p_notification_destinations),
    coalesce(nullif(p_notification_config, 'null'), '{}'),
    logloom_private.maker_in_scope(v_scope), v_row.view_id,
    coalesce(p_notify_on_recovery, false), coalesce(p_for_minutes, 0),
    coalesce(p_on_absent, 'ignore'), coalesce(p_group_wait_seconds, 0),
    logloom_private.changed_rule_secrets('{}', p_secrets), v_row.baseline_days,
    coalesce(p_kind, 'query')
  )
  returning r.* into v_row;
  return logloom_private.alert_rule_for(v_scope, v_row);
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name;
  perform logloom_private.refuse('alerts.' || v_constraint);
  return null;
end;
$$;

create function public.create_alert_rule(
  p_tenant_id text default null,
  p_name text default null,
  p_description text default null,
  p_query_dsl text default null,
  p_threshold double precision default null,
  p_comparison text default null,
  p_window_minutes integer default null,
  p_cooldown_minutes integer default null,
  p_enabled boolean default null,
  p_notification_destinations text[] default null,
  p_notification_config jsonb default null,
  p_view_id uuid default null,
  p_notify_on_recovery boolean default null,
  p_for_minutes integer default null,
  p_on_absent text default null,
  p_group_wait_seconds integer default null,
  p_secrets jsonb default null,
  p_saved_search_id uuid default null,
  p_baseline jsonb default null,
  p_kind text default null
)
returns public.logloom_alert_rule
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.make_alert_rule(
    null, p_tenant_id, p_name, p_description, p_query_dsl, p_threshold, p_comparison,
    p_window_minutes, p_cooldown_minutes, p_enabled, p_notification_destinations,
    p_notification_config, p_view_id, p_notify_on_recovery, p_for_minutes, p_on_absent,
    p_group_wait_seconds, p_secrets, p_saved_search_id, p_baseline, p_kind
  );
end;
$$;

comment on function public.create_alert_rule(
  text, text, text, text, double precision, text, integer, integer, boolean, text[], jsonb, uuid,
  boolean, integer, text, integer, jsonb, uuid, jsonb, text
) is
  'Creates an alert rule and returns it. p_comparison: gt, gte, lt, lte, eq or neq. '
  'p_window_minutes: 1 to 1440. p_cooldown_minutes: 0 to 10080. p_notification_destinations: '
  'email and webhook, with addresses in p_notification_config (email, webhook_url); slack, '
  'discord, teams and pagerduty, with sealed addresses in p_secrets (slack_url, discord_url, '
  'teams_url, pagerduty_key). p_view_id: the view that the rule is evaluated in; for admins. '
  'p_saved_search_id: the saved search whose name and query are the defaults. p_for_minutes: 0 to '
  '1440. p_on_absent: ignore or fire. p_group_wait_seconds: 0 to 3600. p_baseline: {"days": 3 to '
  '7, "deviations": n} fires when the value is n deviations from what is usual; p_threshold may '
  'then be left out. p_kind: query, or new_error for a rule that fires for each error group that '
  'is new or regressed and whose records p_query_dsl finds (default: all); it takes no condition. '
  'Errors: PT400 (also the plan''s limits), PT401, PT403, PT404.';
