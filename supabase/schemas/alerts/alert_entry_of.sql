-- An alert as the operations show it; without what tells of addresses where these are not to be
-- seen. p_resolved_at: of its incident.
create function logloom_private.alert_entry_of(
  p_row logloom.alert_history,
  p_resolved_at timestamptz,
  p_sees_addresses boolean
)
returns public.logloom_alert_history_entry
language sql
stable
return row(
  p_row.alert_id, p_row.rule_id, p_row.tenant_id, p_row.triggered_at, p_row.value,
  p_row.threshold, p_row.acknowledged_at is not null, p_row.acknowledged_at,
  p_row.acknowledged_by, p_row.notification_sent_at is not null, p_row.notification_sent_at,
  case when p_sees_addresses then p_row.notification_channels else '{}' end,
  case when p_sees_addresses then p_row.notification_error end,
  p_row.window_start, p_row.window_end, p_row."group", p_row.incident_id, p_resolved_at,
  p_row.silence_id, p_row.absent
);
