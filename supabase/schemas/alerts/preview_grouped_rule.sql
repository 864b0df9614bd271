-- The preview of a rule with by: it fires for each group apart.

-- The value of each group in each window of a span; the windows stand side by side, as those of
-- other rules that read their windows.
-- Values of a query with by over the windows of a span, one for each group.
create function logloom_private.preview_group_values(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_window_minutes integer,
  p_from timestamptz,
  p_to timestamptz
)
returns logloom_private.alert_window[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_max constant integer := (select s.search_groups from logloom_private.settings s);
  v_window constant interval := make_interval(mins => p_window_minutes);
  v_value text := p_query.aggregate_sql;
  v_values logloom_private.alert_window[];
begin
  if p_query.aggregate = 'rate' then
    v_value := v_value || format(' / %L::double precision', p_window_minutes);
  end if;
  execute 'select array_agg(row(null, f.starts, f.starts + $4, f.value, null, f."group")'
    || '::logloom_private.alert_window) from (select date_bin($4, l.ts, $2) as starts, ' || v_value
    || ' as value, jsonb_object($5, array['
    || (select string_agg('to_jsonb(' || b || ') #>> ''{}''', ', ') from unnest(p_query.by_sql) b)
    || ']::text[]) as "group" from (' || logloom_private.preview_source_sql(p_query)
    || ') l where (' || p_query.filter || ') group by 1, '
    || array_to_string(p_query.by_sql, ', ') || ' limit $6) f'
  into v_values
  using p_tenant_id, p_from, date_bin(v_window, p_to, p_from), v_window, p_query.by_fields,
    v_max + 1;
  if cardinality(v_values) > v_max then
    perform logloom_private.refuse_stage_bound('by', v_max, 'groups of all windows');
  end if;
  return coalesce(v_values, '{}');
end;
$$;

-- Which of the values fire, by group and time: each group has its own cooldown.
-- The alerts of values of groups.
create function logloom_private.preview_group_alerts(
  p_values logloom_private.alert_window[],
  p_threshold double precision,
  p_comparison text,
  p_cooldown interval
)
returns public.logloom_alert_preview_entry[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_value record;
  v_group jsonb;
  v_last timestamptz;
  v_alerts public.logloom_alert_preview_entry[] := '{}';
begin
  for v_value in
    select w.window_start, w.window_end, w.value, w."group"
    from unnest(p_values) w
    where logloom_private.alert_condition_holds(w.value, p_comparison, p_threshold)
    order by w."group", w.window_end
  loop
    if v_value."group" is distinct from v_group or v_value.window_end >= v_last + p_cooldown then
      v_group := v_value."group";
      v_last := v_value.window_end;
      v_alerts := v_alerts || row(
        v_value.window_start, v_value.window_end, v_value.value, v_value."group"
      )::public.logloom_alert_preview_entry;
    end if;
  end loop;
  return v_alerts;
end;
$$;

-- Completes a preview that has its times.
-- A preview with what a rule with by would have seen and fired: the groups that fire most, or have
-- the greatest values, with a series of their own.
create function logloom_private.preview_grouped_rule(
  p_preview public.logloom_alert_preview,
  p_values logloom_private.alert_window[],
  p_threshold double precision,
  p_comparison text,
  p_cooldown interval
)
returns public.logloom_alert_preview
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings logloom_private.settings;
  v_crowded timestamptz[];
  v_seen logloom_private.alert_window[];
  v_alerts public.logloom_alert_preview_entry[];
begin
  select s.* into v_settings from logloom_private.settings s;
  -- A window with more groups than a rule looks at has no value: the rule fires for none.
  v_crowded := array(
    select w.window_end
    from unnest(p_values) w
    group by w.window_end
    having count(*) > v_settings.alert_groups
  );
  v_seen := array(select w from unnest(p_values) w where w.window_end <> all(v_crowded));
  v_alerts := logloom_private.preview_group_alerts(
    v_seen, p_threshold, p_comparison, p_cooldown
  );
  p_preview.crowded_windows := cardinality(v_crowded);
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
        limit v_settings.preview_alerts
      ) o
    ) n
    where coalesce(n.bytes_before, 0) < v_settings.max_page_bytes / 2
    order by (n.a).window_end, (n.a)."group"
  );
  p_preview.series := array(
    select row(e.window_end, max(w.value))::public.logloom_alert_preview_point
    from generate_series(
      p_preview.ts_from + make_interval(mins => p_preview.step_minutes),
      p_preview.ts_to,
      make_interval(mins => p_preview.step_minutes)
    ) e (window_end)
    left join unnest(v_seen) w on w.window_end = e.window_end
    group by e.window_end
    order by e.window_end
  );
  p_preview.total_groups := (select count(distinct w."group") from unnest(p_values) w);
  p_preview.groups := array(
    select row(g."group", g.alerts, g.series)::public.logloom_alert_preview_group
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
      limit v_settings.search_series
    ) g
    where octet_length(g."group"::text) < v_settings.max_page_bytes / 64
  );
  return p_preview;
end;
$$;
