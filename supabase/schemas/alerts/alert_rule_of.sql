-- How many seconds a rule is behind the newest round: its last window, or its first
-- one, was due so long ago. 0 where it is not.
create function logloom_private.late_seconds(p_rule logloom.alert_rules)
returns double precision
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads the rounds
begin
  return coalesce(
    (
      select greatest(extract(epoch from n.window_end - l.window_end), 0)
      from logloom_private.alert_rounds r
      cross join lateral (
        -- One that is under way is not late yet.
        select r.window_end - (r.finished_at is null)::integer * interval '1 minute' as window_end
      ) n
      cross join lateral (
        select greatest(p_rule.last_evaluated_at, date_trunc('minute', p_rule.asked_at))
          as window_end
      ) l
      where p_rule.enabled
    ),
    0
  );
end;
$$;

-- An alert rule as the operations show it.
create function logloom_private.alert_rule_of(p_row logloom.alert_rules)
returns public.logloom_alert_rule
language sql
stable
return row(
  p_row.rule_id, p_row.tenant_id, p_row.name, p_row.description, p_row.query_dsl,
  p_row.threshold, p_row.comparison::public.logloom_alert_comparison, p_row.window_minutes,
  p_row.cooldown_minutes, p_row.enabled, p_row.notification_destinations,
  p_row.notification_config, p_row.created_at, p_row.updated_at, p_row.last_evaluated_at,
  p_row.last_value, p_row.last_error, p_row.view_id,
  p_row.notify_on_recovery, p_row.for_minutes, p_row.on_absent, p_row.group_wait_seconds,
  logloom_private.shown_secrets(p_row.notification_secrets), logloom_private.late_seconds(p_row)
);
