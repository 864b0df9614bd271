-- Fires an alert of a rule whose condition held in a window, unless its cooldown has not passed or
-- the window fired before. Whether it did.
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
begin
  -- From window to window, so that the moments at which rounds happen to run do not matter. In
  -- both directions: a late record may make an earlier window fire after a later one did.
  if exists (
    select from logloom.alert_history h
    where h.rule_id = p_rule.rule_id
      and h."group" is not distinct from p_window."group"
      and (
        h.window_end = p_window.window_end
        or h.window_end > p_window.window_end - v_cooldown
        and h.window_end < p_window.window_end + v_cooldown
      )
  ) then
    perform logloom_private.held_incident(p_rule, p_window, p_now, false);
    return false;
  end if;
  insert into logloom.alert_history (
    tenant_id, rule_id, triggered_at, value, threshold, window_start, window_end,
    "group", view_id, incident_id
  )
  values (
    p_rule.tenant_id, p_rule.rule_id, p_now, p_window.value, p_rule.threshold,
    p_window.window_start, p_window.window_end, p_window."group", p_rule.view_id,
    logloom_private.held_incident(p_rule, p_window, p_now, true)
  )
  on conflict (rule_id, window_end, (coalesce(md5("group"::text), ''))) do nothing;
  return found;
end;
$$;
