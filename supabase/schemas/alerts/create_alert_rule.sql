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
  p_view_id uuid default null
)
returns public.logloom_alert_rule
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_constraint text;
  v_row logloom.alert_rules;
begin
  perform logloom_private.require_parameter('p_name', p_name is null);
  perform logloom_private.require_parameter('p_query_dsl', p_query_dsl is null);
  perform logloom_private.require_parameter('p_threshold', p_threshold is null);
  perform logloom_private.require_parameter('p_comparison', p_comparison is null);
  perform logloom_private.require_parameter('p_window_minutes', p_window_minutes is null);
  perform logloom_private.require_parameter('p_cooldown_minutes', p_cooldown_minutes is null);
  perform logloom_private.require_parameter('p_enabled', p_enabled is null);
  perform logloom_private.check_query(p_query_dsl, true);
  perform logloom_private.require_view_by_admin(v_tenant_id, p_view_id);
  perform logloom_private.require_rule_in_view(v_tenant_id, p_query_dsl, p_view_id);
  perform logloom_private.require_room_for('alerts', p_tenant_id);
  insert into logloom.alert_rules as r (
    tenant_id, name, description, query_dsl, threshold, comparison, window_minutes,
    cooldown_minutes, enabled, notification_destinations, notification_config, created_by, view_id
  )
  values (
    v_tenant_id, logloom_private.trim_space(p_name),
    nullif(logloom_private.trim_space(p_description), ''),
    p_query_dsl, p_threshold, p_comparison, p_window_minutes, p_cooldown_minutes, p_enabled,
    logloom_private.distinct_destinations(p_notification_destinations),
    coalesce(nullif(p_notification_config, 'null'), '{}'), logloom_private.current_user_id(),
    p_view_id
  )
  returning r.* into v_row;
  return logloom_private.alert_rule_of(v_row);
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name;
  perform logloom_private.refuse('alerts.' || v_constraint);
  return null;
end;
$$;

comment on function public.create_alert_rule(
  text, text, text, text, double precision, text, integer, integer, boolean, text[], jsonb, uuid
) is
  'Creates an alert rule and returns it. p_comparison: gt, gte, lt, lte, eq or neq. '
  'p_window_minutes 1 to 1440, p_cooldown_minutes 0 to 10080. p_notification_destinations: email, '
  'webhook; their addresses are in p_notification_config (email, webhook_url). '
  'p_view_id, for admins: the view that it is evaluated in. '
  'Errors: PT400 (plan limit, too), PT401, PT403, PT404.';
