-- Returns the values that would fire. Each group has its own cooldown and its own for_minutes. If
-- the rule announces the end of an incident, it may fire again right after the end.
create function logloom_private.preview_alerts(
  p_values logloom_private.alert_window[],
  p_rule logloom.alert_rules,
  p_step interval,
  p_bands logloom_private.alert_band[] default '{}'
)
returns public.logloom_alert_preview_entry[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_value logloom_private.alert_window;
  v_last public.logloom_alert_preview_entry;
  v_before logloom_private.alert_window;
  v_since timestamptz;
  v_tells_end constant boolean := p_rule.notify_on_recovery
    or 'pagerduty' = any (p_rule.notification_destinations);
  v_alerts public.logloom_alert_preview_entry[] := '{}';
begin
  for v_value in
    select w.*
    from unnest(p_values) w
    left join unnest(p_bands) b
      on b.window_end = w.window_end
      and coalesce(b."group", 'null') = coalesce(w."group", 'null')
    where logloom_private.alert_condition_holds(
      w.value, p_rule.comparison,
      case when p_rule.baseline_days is null then p_rule.threshold else b.threshold end
    )
    order by w."group", w.window_end
  loop
    if v_before.window_end + p_step = v_value.window_end is not true
      or v_value."group" is distinct from v_before."group"
    then
      v_since := v_value.window_end;
    end if;
    v_before := v_value;
    continue when v_value.window_end < v_since + make_interval(mins => p_rule.for_minutes);
    if v_last.window_end is null
      or v_value."group" is distinct from v_last."group"
      or v_tells_end and v_since > v_last.window_end
      or v_value.window_end
        >= v_last.window_end + make_interval(mins => p_rule.cooldown_minutes)
    then
      v_last := row(v_value.window_start, v_value.window_end, v_value.value, v_value."group");
      v_alerts := v_alerts || v_last;
    end if;
  end loop;
  return v_alerts;
end;
$$;

-- What is usual and the threshold in each window, for p_group; null without a baseline.
create function logloom_private.shown_band(
  p_bands logloom_private.alert_band[],
  p_group jsonb
)
returns public.logloom_alert_preview_band[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select array_agg(
      row(b.window_end, b.usual, b.threshold)::public.logloom_alert_preview_band
      order by b.window_end
    )
    from unnest(p_bands) b
    where b."group" is not distinct from p_group
  );
end;
$$;

-- Adds the values and alerts of the rule to a preview that has only its times. For a rule with by,
-- the groups that fire most or have the highest values have their own series.
create function logloom_private.completed_preview(
  p_preview public.logloom_alert_preview,
  p_values logloom_private.alert_window[],
  p_is_grouped boolean,
  p_rule logloom.alert_rules,
  p_bands logloom_private.alert_band[]
)
returns public.logloom_alert_preview
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_max_alerts constant integer := 1000;
  v_settings logloom_private.settings;
  v_step constant interval := make_interval(mins => p_preview.step_minutes);
  v_crowded timestamptz[];
  v_seen logloom_private.alert_window[];
  v_alerts public.logloom_alert_preview_entry[];
begin
  select s.* into v_settings from logloom_private.settings s;
  -- A window with too many or too long groups has no value, and none of its groups fires.
  v_crowded := array(
    select w.window_end
    from unnest(p_values) w
    group by w.window_end
    having count(*) > v_settings.alert_groups
      or max(octet_length(w."group"::text)) > logloom_private.alert_group_bytes()
  );
  v_seen := array(select w from unnest(p_values) w where w.window_end <> all(v_crowded));
  v_alerts := logloom_private.preview_alerts(v_seen, p_rule, v_step, p_bands);
  p_preview.total_alerts := cardinality(v_alerts);
  p_preview.alerts := array(
    select a
    from (
      select o.a, sum(octet_length((o.a)."group"::text)) over (
        order by (o.a).window_end desc, (o.a)."group"
        rows between unbounded preceding and 1 preceding
      ) as bytes_before
      from (
        select a from unnest(v_alerts) a
        order by a.window_end desc, a."group"
        limit case when p_is_grouped then v_max_alerts end
      ) o
    ) n
    where coalesce(n.bytes_before, 0) < v_settings.max_page_bytes / 2
    order by (n.a).window_end, (n.a)."group"
  );
  p_preview.series := array(
    select row(e.window_end, max(w.value))::public.logloom_alert_preview_point
    from (
      select g from generate_series(p_preview.ts_from + v_step, p_preview.ts_to, v_step) g
      union
      select w.window_end from unnest(p_values) w
    ) e (window_end)
    left join unnest(v_seen) w on w.window_end = e.window_end
    group by e.window_end
    order by e.window_end
  );
  if not p_is_grouped then
    p_preview.band := logloom_private.shown_band(p_bands, null);
    return p_preview;
  end if;
  p_preview.crowded_windows := cardinality(v_crowded);
  p_preview.total_groups := (select count(distinct w."group") from unnest(p_values) w);
  p_preview.groups := array(
    select row(
      g."group", g.alerts, g.series, logloom_private.shown_band(p_bands, g."group")
    )::public.logloom_alert_preview_group
    from (
      select
        w."group", coalesce(a.alerts, 0)::integer as alerts, max(w.value) as greatest,
        array_agg(
          row(w.window_end, w.value)::public.logloom_alert_preview_point order by w.window_end
        ) as series
      from unnest(v_seen) w
      left join (
        select a."group", count(*) as alerts from unnest(v_alerts) a group by 1
      ) a on a."group" = w."group"
      group by w."group", a.alerts
      order by coalesce(a.alerts, 0) desc, greatest desc nulls last, w."group"
      limit logloom_private.max_series()
    ) g
    where octet_length(g."group"::text) < v_settings.max_page_bytes / 64
  );
  return p_preview;
end;
$$;
