-- The JSON that a webhook carries, of type alert.triggered or alert.test. The text is kept, so that
-- every attempt sends and signs the same bytes.
create function logloom_private.notification_body(
  p_type text,
  p_rule logloom.alert_rules,
  p_alert logloom.alert_history
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_iso constant text := 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"';
begin
  return json_build_object(
    'type', p_type,
    'timestamp', to_char(p_alert.triggered_at, v_iso),
    'data', json_build_object(
      'alert_id', p_alert.alert_id,
      'rule_id', p_rule.rule_id,
      'tenant_id', p_rule.tenant_id,
      'name', p_rule.name,
      'description', p_rule.description,
      'query_dsl', p_rule.query_dsl,
      'value', p_alert.value,
      'group', p_alert."group",
      'comparison', p_rule.comparison,
      'threshold', p_alert.threshold,
      'window_minutes', p_rule.window_minutes,
      'window_start', to_char(p_alert.window_start, v_iso),
      'window_end', to_char(p_alert.window_end, v_iso),
      'triggered_at', to_char(p_alert.triggered_at, v_iso)
    )
  )::text;
end;
$$;
