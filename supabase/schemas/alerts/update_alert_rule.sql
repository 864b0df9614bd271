-- Changes a rule, for public.update_alert_rule. An admin can only enable and disable a customer's
-- rule. If an admin disables it, only an admin can enable it. Whoever enables it becomes its maker.
create function logloom_private.change_alert_rule(
  p_scope logloom_private.reading_scope,
  p_rule_id uuid,
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
  p_baseline jsonb,
  p_tenant_id text
)
returns public.logloom_alert_rule
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because portal sessions have no rights on tables
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.managing_scope(p_scope, 'update_alert_rule', p_tenant_id, 'member');
  v_tenant_id constant text := v_scope.tenant_id;
  v_customer text;
  v_is_change constant boolean := num_nonnulls(
    p_name, p_description, p_query_dsl, p_threshold, p_comparison, p_window_minutes,
    p_cooldown_minutes, p_notification_destinations, p_notification_config, p_view_id,
    p_notify_on_recovery, p_for_minutes, p_on_absent, p_group_wait_seconds, p_secrets, p_baseline
  ) > 0;
  v_constraint text;
  v_row logloom.alert_rules;
begin
  perform
    logloom_private.require_parameter('p_rule_id', p_rule_id is null),
    logloom_private.refuse_for_customer(v_scope, 'p_view_id', p_view_id is not null),
    logloom_private.require_view_by_admin(v_tenant_id, p_view_id),
    logloom_private.hold_view(v_tenant_id, p_view_id),
    logloom_private.require_room_for_baseline(v_tenant_id, p_baseline, p_rule_id);
  v_row := logloom_private.locked_rule(v_scope, p_rule_id);
  v_customer := logloom_private.customer_of_view(v_row.view_id);
  if v_is_change and v_scope.kind = 'token' and v_customer is not null then
    perform logloom_private.refuse('portal.thing_is_of_customer', 'alert rule');
  elsif p_enabled is not null then
    perform logloom_private.require_not_held(
      v_scope, coalesce(v_row.held_at, case when p_enabled then v_row.paused_at end), 'alert rule'
    );
  end if;
  if v_is_change or p_enabled then
    perform logloom_private.require_view_of_session(v_scope, v_row.view_id, 'alert rule');
  end if;
  if p_query_dsl = '' and v_row.kind = 'new_error' then
    p_query_dsl := '*';
  elsif p_query_dsl is not null then
    perform logloom_private.check_rule_query(v_scope, p_query_dsl, v_row.kind);
  end if;
  v_row := logloom_private.with_baseline(v_row, p_baseline, p_threshold);
  -- An empty p_description removes the description. notification_config is replaced as a whole.
  update logloom.alert_rules r
  set
    name = coalesce(logloom_private.trim_space(p_name), r.name),
    description = nullif(coalesce(logloom_private.trim_space(p_description), r.description), ''),
    query_dsl = coalesce(p_query_dsl, r.query_dsl),
    threshold = v_row.threshold,
    baseline_days = v_row.baseline_days,
    comparison = coalesce(p_comparison, r.comparison),
    window_minutes = coalesce(p_window_minutes, r.window_minutes),
    cooldown_minutes = coalesce(p_cooldown_minutes, r.cooldown_minutes),
    enabled = coalesce(p_enabled, r.enabled),
    created_by = case when p_enabled and v_customer is not null
      then logloom_private.maker_in_scope(v_scope) else r.created_by end,
    held_at = case
      when p_enabled then null
      when not p_enabled and v_scope.customer is null and v_customer is not null then now()
      else r.held_at
    end,
    paused_at = case when p_enabled is not true then r.paused_at end,
    last_error = case when not (p_enabled and r.paused_at is not null) then r.last_error end,
    notification_destinations = case
      when p_notification_destinations is null then r.notification_destinations
      else logloom_private.distinct_destinations(p_notification_destinations)
    end,
    notification_config = coalesce(nullif(p_notification_config, 'null'), r.notification_config),
    view_id = coalesce(p_view_id, r.view_id),
    notify_on_recovery = coalesce(p_notify_on_recovery, r.notify_on_recovery),
    for_minutes = coalesce(p_for_minutes, r.for_minutes),
    on_absent = coalesce(p_on_absent, r.on_absent),
    group_wait_seconds = coalesce(p_group_wait_seconds, r.group_wait_seconds),
    notification_secrets = logloom_private.changed_rule_secrets(r.notification_secrets, p_secrets),
    updated_at = now(),
    asked_at = case
      when (r.query_dsl, r.threshold, r.comparison, r.window_minutes, r.for_minutes) = (
          coalesce(p_query_dsl, r.query_dsl), v_row.threshold,
          coalesce(p_comparison, r.comparison), coalesce(p_window_minutes, r.window_minutes),
          coalesce(p_for_minutes, r.for_minutes)
        )
        and r.view_id is not distinct from coalesce(p_view_id, r.view_id)
        and r.baseline_days is not distinct from v_row.baseline_days
        and r.enabled >= coalesce(p_enabled, r.enabled)
        then r.asked_at
      -- Not now(): an incident may have ended since this transaction began.
      else greatest(r.asked_at, clock_timestamp())
    end
  where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id
  returning r.* into v_row;
  perform
    logloom_private.require_groups(v_row.query_dsl, v_row.on_absent),
    case when num_nonnulls(p_query_dsl, p_view_id) > 0
      then logloom_private.compile_rule(v_tenant_id, v_row.query_dsl, v_row.view_id) end;
  return logloom_private.alert_rule_for(v_scope, v_row);
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name;
  perform logloom_private.refuse('alerts.' || v_constraint);
  return null;
end;
$$;

create function public.update_alert_rule(
  p_rule_id uuid default null,
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
  p_baseline jsonb default null,
  p_tenant_id text default null
)
returns public.logloom_alert_rule
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.change_alert_rule(
    null, p_rule_id, p_name, p_description, p_query_dsl, p_threshold, p_comparison,
    p_window_minutes, p_cooldown_minutes, p_enabled, p_notification_destinations,
    p_notification_config, p_view_id, p_notify_on_recovery, p_for_minutes, p_on_absent,
    p_group_wait_seconds, p_secrets, p_baseline, p_tenant_id
  );
end;
$$;

comment on function public.update_alert_rule(
  uuid, text, text, text, double precision, text, integer, integer, boolean, text[], jsonb, uuid,
  boolean, integer, text, integer, jsonb, jsonb, text
) is
  'Changes the given parts of an alert rule and returns it. An empty p_description removes it, an '
  'empty p_query_dsl the query of a new_error rule. '
  'p_notification_config is replaced as a whole. Each member of p_secrets replaces one secret, '
  'null removes it. p_view_id: the view that the rule is evaluated in; for admins. p_baseline: as '
  'in create_alert_rule; {} removes it. Errors: PT400, PT401, PT403, PT404.';
