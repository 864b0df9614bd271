-- Fires an alert for a window in which the rule's condition held. Returns false if the window is
-- within the cooldown or fired before. The cooldown ends early if a message announced the
-- incident's end, or if the rule changed. A silenced alert has no cooldown after its silence.
-- p_silences: the tenant's silences in force at p_now.
create function logloom_private.fire_alert(
  p_rule logloom.alert_rules,
  p_window logloom_private.alert_window,
  p_now timestamptz,
  p_silences uuid[]
)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_cooldown constant interval := make_interval(mins => p_rule.cooldown_minutes);
  v_last constant logloom.alert_incidents :=
    logloom_private.last_incident(p_rule.rule_id, p_window."group");
  v_silence_id constant uuid :=
    logloom_private.silence_of_alert(p_rule.rule_id, p_window."group", p_silences);
  -- A late record may reopen a window from before the announced end. Then this is false.
  v_end_was_told constant boolean :=
    v_last.end_told_at is not null and p_window.window_end > v_last.held_until;
begin
  -- Compares windows, so that the times of rounds do not matter. Also looks for later windows that
  -- fired, because a late record may make an earlier window fire.
  if exists (
    select from logloom.alert_history h
    where h.rule_id = p_rule.rule_id
      and h."group" is not distinct from p_window."group"
      and (
        h.window_end = p_window.window_end
        or not v_end_was_told
        and (h.silence_id is null or v_silence_id is not null)
        and h.window_end > greatest(p_window.window_end - v_cooldown, p_rule.asked_at)
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
    v_silence_id,
    p_window.absent is true
  )
  on conflict (rule_id, window_end, (coalesce(md5("group"::text), ''))) do nothing;
  return found;
end;
$$;

-- Returns the windows of rules that have something to fire or to resolve, in order, with the values
-- found in each window. error: why the window could not be evaluated.
create function logloom_private.telling_windows(p_windows logloom_private.alert_window[])
returns table (
  rule_id uuid, window_end timestamptz, error text, seen logloom_private.alert_window[],
  holding logloom_private.alert_window[]
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select
    j.rule_id, j.window_end, min(j.error),
    coalesce(array_agg(j.found) filter (where num_nonnulls(j.value, j."group") > 0), '{}'),
    coalesce(array_agg(j.found order by j."group") filter (where j.holds), '{}')
  from (
    select
      w.rule_id, w.window_end, w.error, w."group", w.value, h.holds, w as found,
      bool_or(h.holds or r.for_minutes > 0 or r.on_absent = 'fire') over (
        partition by w.rule_id
      ) as tells
    from unnest(p_windows) w
    join logloom.alert_rules r on r.rule_id = w.rule_id
    cross join lateral logloom_private.alert_condition_holds(
      w.value, r.comparison,
      case when r.baseline_days is null then r.threshold
        else logloom_private.threshold_of_window(r, w) end
    ) h (holds)
  ) j
  where j.tells
    or exists (
      select from logloom.alert_incidents i
      where i.rule_id = j.rule_id and i.resolved_at is null
    )
  group by j.rule_id, j.window_end
  order by j.window_end, j.rule_id;
end;
$$;

-- Fires alerts, ends incidents whose condition no longer holds, and stores the value or error of
-- each rule. Returns how many alerts fired.
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
  v_told record;
  v_rule logloom.alert_rules;
  v_judged logloom.alert_rules;
  v_window logloom_private.alert_window;
  v_fired integer := 0;
  v_errors jsonb := '{}';
  v_silences jsonb := '{}';
  v_in_force uuid[];
begin
  for v_told in select t.* from logloom_private.telling_windows(p_windows) t loop
    -- Locked, so that a concurrent change leaves no incident open.
    select r.* into v_rule
    from logloom.alert_rules r
    where r.rule_id = v_told.rule_id and r.enabled and r.asked_at < v_told.window_end
    for no key update;
    continue when not found;
    if v_told.error is null and (v_rule.for_minutes > 0 or v_rule.on_absent = 'fire') then
      v_told.holding := logloom_private.lasting_windows(
        v_rule, v_told.window_end, v_told.seen, v_told.holding
      );
    end if;
    v_judged := v_rule;
    -- Reads the silences once for each tenant, because a round can fire many alerts.
    if cardinality(v_told.holding) > 0 then
      if not v_silences ? v_rule.tenant_id then
        v_silences := v_silences || jsonb_build_object(
          v_rule.tenant_id, logloom_private.silences_at(v_rule.tenant_id, p_now)
        );
      end if;
      v_in_force := array(
        select i::uuid from jsonb_array_elements_text(v_silences -> v_rule.tenant_id) i
      );
    end if;
    foreach v_window in array v_told.holding loop
      begin
        v_judged.threshold := coalesce(
          logloom_private.threshold_of_window(v_rule, v_window), v_rule.threshold
        );
        v_fired := v_fired
          + logloom_private.fire_alert(v_judged, v_window, p_now, v_in_force)::integer;
      exception
        when lock_not_available or disk_full then
          raise;
        when others then
          v_errors := v_errors || jsonb_build_object(v_told.rule_id, sqlerrm);
      end;
    end loop;
    continue when v_told.error is not null;
    begin
      perform logloom_private.resolve_incidents(
        v_rule, v_told.window_end,
        array(select s."group" from unnest(v_told.seen) s where s."group" is not null),
        array(select coalesce(h."group", 'null') from unnest(v_told.holding) h), p_now,
        logloom_private.decided_groups(v_rule, v_told.window_end, v_told.seen)
      );
    exception
      when lock_not_available or disk_full then
        raise;
      when others then
        v_errors := v_errors || jsonb_build_object(v_told.rule_id, sqlerrm);
    end;
  end loop;

  perform logloom_private.keep_rule_values(p_windows);
  update logloom.alert_rules r
  set
    last_evaluated_at = p_round.window_end,
    last_value = w.value,
    last_error = coalesce(v_errors ->> w.rule_id::text, w.error)
  from (
    select
      u.rule_id,
      max(u.value) filter (where u.window_end = u.newest_end) as value,
      max(u.error) as error
    from (
      select p.*, max(p.window_end) over (partition by p.rule_id) as newest_end
      from unnest(p_windows) p
    ) u
    group by u.rule_id
  ) w
  where r.rule_id = w.rule_id;
  update logloom_private.alert_plans p
  set reopened_from = null
  where p.reopened_from is not null
    and p.rule_id in (select w.rule_id from unnest(p_windows) w where w.error is null);
  return v_fired;
end;
$$;
