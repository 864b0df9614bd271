-- A group with values that a message has room for.
create function logloom_private.short_group(p_group jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select jsonb_object_agg(
      g.key, case when length(g.value) > 200 then left(g.value, 199) || '…' else g.value end
    )
    from jsonb_each_text(p_group) g
  );
end;
$$;

-- The JSON that a webhook carries, of type alert.triggered or alert.test, and of which the other
-- channels make their messages. It is kept; each attempt adds a link and the records that there are
-- then.
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
      'triggered_at', to_char(p_alert.triggered_at, v_iso),
      'incident_id', p_alert.incident_id,
      'absent', coalesce(p_alert.absent, false),
      'alerts', json_build_array(json_build_object(
        'alert_id', p_alert.alert_id,
        'group', logloom_private.short_group(p_alert."group"),
        'value', p_alert.value,
        'absent', coalesce(p_alert.absent, false)
      ))
    )
  )::text;
end;
$$;

-- The same of type alert.resolved, for the end of an incident.
create function logloom_private.recovery_body(
  p_rule logloom.alert_rules,
  p_incident logloom.alert_incidents
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
    'type', 'alert.resolved',
    'timestamp', to_char(p_incident.resolved_at, v_iso),
    'data', json_build_object(
      'alert_id', null,
      'rule_id', p_rule.rule_id,
      'tenant_id', p_rule.tenant_id,
      'name', p_incident.rule_name,
      'description', p_rule.description,
      'query_dsl', p_incident.query_dsl,
      'value', p_incident.value,
      'peak_value', p_incident.peak_value,
      'group', p_incident."group",
      'comparison', p_incident.comparison,
      'threshold', p_incident.threshold,
      'window_minutes', p_incident.window_minutes,
      'window_start', to_char(
        p_incident.opened_at - make_interval(mins => p_incident.window_minutes), v_iso
      ),
      'window_end', to_char(p_incident.held_until, v_iso),
      'opened_at', to_char(p_incident.opened_at, v_iso),
      'resolved_at', to_char(p_incident.resolved_at, v_iso),
      'resolution', p_incident.resolution,
      'incident_id', p_incident.incident_id,
      'absent', p_incident.resolution = 'still_absent',
      'alerts', json_build_array(json_build_object(
        'alert_id', null,
        'group', logloom_private.short_group(p_incident."group"),
        'value', p_incident.value,
        'absent', p_incident.resolution = 'still_absent'
      ))
    )
  )::text;
end;
$$;
