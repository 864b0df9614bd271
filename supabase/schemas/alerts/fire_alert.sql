-- Fires an alert of a rule whose condition held in a window, unless its cooldown has not passed or
-- the window fired before. Whether it did. The cooldown holds back repeats: once a message said
-- that it is over, the next window in which the condition holds fires.
create function logloom_private.fire_alert(
  p_rule logloom.alert_rules,
  p_window logloom_private.alert_window,
  p_now timestamptz
)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_cooldown constant interval := make_interval(mins => p_rule.cooldown_minutes);
  v_last constant logloom.alert_incidents :=
    logloom_private.last_incident(p_rule.rule_id, p_window."group");
  -- A late record has windows evaluated again that held before the end: those are no news.
  v_end_was_told constant boolean :=
    v_last.end_told_at is not null and p_window.window_end > v_last.held_until;
begin
  -- From window to window, so that the moments at which rounds happen to run do not matter. In
  -- both directions: a late record may make an earlier window fire after a later one did.
  if exists (
    select from logloom.alert_history h
    where h.rule_id = p_rule.rule_id
      and h."group" is not distinct from p_window."group"
      and (
        h.window_end = p_window.window_end
        or not v_end_was_told
        and h.window_end > p_window.window_end - v_cooldown
        and h.window_end < p_window.window_end + v_cooldown
      )
  ) then
    perform logloom_private.held_incident(p_rule, p_window, p_now, false);
    return false;
  end if;
  insert into logloom.alert_history (
    tenant_id, rule_id, triggered_at, value, threshold, window_start, window_end,
    "group", view_id, incident_id, silence_id, absent
  )
  values (
    p_rule.tenant_id, p_rule.rule_id, p_now, p_window.value, p_rule.threshold,
    p_window.window_start, p_window.window_end, p_window."group", p_rule.view_id,
    logloom_private.held_incident(p_rule, p_window, p_now, true),
    logloom_private.silence_of_alert(
      p_rule.tenant_id, p_rule.rule_id, p_window."group", p_now
    ),
    p_window.absent is true
  )
  on conflict (rule_id, window_end, (coalesce(md5("group"::text), ''))) do nothing;
  return found;
end;
$$;
