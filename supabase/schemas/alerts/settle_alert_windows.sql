-- Fires what holds and notes value or error with each rule. Alerts fired.
create function logloom_private.settle_alert_windows(
  p_windows logloom_private.alert_window[],
  p_round logloom_private.alert_rounds,
  p_now timestamptz
)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_hit record;
  v_fired integer := 0;
  v_errors jsonb := '{}';
begin
  for v_hit in
    select r as rule, w as seen
    from unnest(p_windows) w
    join logloom.alert_rules r on r.rule_id = w.rule_id
    where logloom_private.alert_condition_holds(w.value, r.comparison, r.threshold)
    order by w.window_end, w.rule_id, w."group"
  loop
    begin
      if logloom_private.fire_alert(v_hit.rule, v_hit.seen, p_now) then
        v_fired := v_fired + 1;
      end if;
    exception when others then
      v_errors := v_errors || jsonb_build_object((v_hit.rule).rule_id, sqlerrm);
    end;
  end loop;

  update logloom.alert_rules r
  set
    last_evaluated_at = p_round.window_end,
    last_value = w.value,
    last_error = coalesce(v_errors ->> w.rule_id::text, w.error)
  from (
    select
      u.rule_id,
      max(u.value) filter (where u.window_end = p_round.window_end) as value,
      max(u.error) as error
    from unnest(p_windows) u
    group by u.rule_id
  ) w
  where r.rule_id = w.rule_id;
  return v_fired;
end;
$$;
