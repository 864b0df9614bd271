-- open, acknowledged or resolved.
create function logloom_private.alert_incident_state(
  p_resolved_at timestamptz,
  p_acknowledged_at timestamptz
)
returns text
language sql
immutable
return case
  when p_resolved_at is not null then 'resolved'
  when p_acknowledged_at is not null then 'acknowledged'
  else 'open'
end;

-- An incident as the operations show it.
create function logloom_private.alert_incident_of(p_row logloom.alert_incidents)
returns public.logloom_alert_incident
language sql
stable
return row(
  p_row.incident_id, p_row.tenant_id, p_row.rule_id, p_row.rule_name, p_row.query_dsl,
  p_row.window_minutes, p_row."group",
  logloom_private.alert_incident_state(p_row.resolved_at, p_row.acknowledged_at),
  p_row.opened_at, p_row.last_fired_at, p_row.resolved_at, p_row.resolution, p_row.fired_count,
  p_row.value, p_row.peak_value, p_row.threshold,
  p_row.comparison::public.logloom_alert_comparison, p_row.acknowledged_at, p_row.acknowledged_by
);
