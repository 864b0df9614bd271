-- A rule with a baseline compares its value with what is usual: the values of the windows that
-- ended at the same time of the last days.

-- At most this many groups of a rule have a baseline.
create function logloom_private.baseline_groups()
returns integer
language sql
immutable
return 20;

-- Returns the last end of a baseline window up to p_window_end: a multiple of 5 minutes.
create function logloom_private.kept_window_end(p_window_end timestamptz)
returns timestamptz
language sql
immutable
return date_bin('5 minutes', p_window_end, 'epoch');

-- Returns the ends of the earlier windows that a window is compared with, one for each day.
create function logloom_private.baseline_ends(p_window_end timestamptz, p_days integer)
returns timestamptz[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
begin
  return array(
    select logloom_private.kept_window_end(p_window_end) - make_interval(days => d)
    from generate_series(1, p_days) d
  );
end;
$$;

-- Returns the key of a group in rule_values.values.
create function logloom_private.group_key(p_group jsonb)
returns text
language sql
immutable
return coalesce(md5(p_group::text), '');

-- Returns what is usual and the threshold that is p_deviations away from it. usual: the median of
-- p_values. A deviation is 1.4826 times the median absolute deviation, which estimates the standard
-- deviation (Leys et al. 2013, https://doi.org/10.1016/j.jesp.2013.03.013). It is at least the
-- square root of the median (typical of counts), and at least 1: a first error is not unusual. Both
-- results are null if fewer than three values are known.
create function logloom_private.usual_band(
  p_values double precision[],
  p_comparison text,
  p_deviations double precision
)
returns table (usual double precision, threshold double precision)
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  select percentile_cont(0.5) within group (order by v) into usual
  from unnest(p_values) v
  having count(v) >= 3;
  -- Rounded, because messages show it.
  select round((
    usual + case when p_comparison in ('gt', 'gte') then 1 else -1 end * p_deviations
      * greatest(
        1.4826 * percentile_cont(0.5) within group (order by abs(v - usual)),
        sqrt(greatest(usual, 0)), 1
      )
  )::numeric, 3)
  into threshold
  from unnest(p_values) v;
  return next;
end;
$$;

-- The threshold of a rule for a window; null while a rule with a baseline does not know what is
-- usual.
create function logloom_private.threshold_of_window(
  p_rule logloom.alert_rules,
  p_window logloom_private.alert_window
)
returns double precision
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_rule.baseline_days is null then
    return p_rule.threshold;
  end if;
  return (
    select b.threshold
    from logloom_private.usual_band(
      array(
        select coalesce(
          (v.values ->> logloom_private.group_key(p_window."group"))::double precision, v.others
        )
        from logloom_private.rule_values v
        where v.rule_id = p_rule.rule_id and v.window_end = any (
          logloom_private.baseline_ends(p_window.window_end, p_rule.baseline_days)
        )
      ),
      p_rule.comparison, p_rule.threshold
    ) b
  );
end;
$$;

-- Returns the value of a group in a window without records of the group: 0 or null.
create function logloom_private.absent_value(p_aggregate text, p_results jsonb)
returns double precision
language sql
immutable
return case
  when not coalesce(p_results ? 'math', false)
    and coalesce(p_results -> 'aggregates' -> -1 ->> 'kind', p_aggregate)
      in ('count', 'count_distinct', 'rate', 'sum')
    then 0
end;

-- Stores values for the baselines of later windows, of at most baseline_groups() groups of a rule.
-- Groups that were stored 5 minutes before come first, then groups with the highest values.
create function logloom_private.keep_rule_values(p_windows logloom_private.alert_window[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Larger values are stored as this number, so that a sum of several values stays finite.
  v_largest constant double precision := 1e300;
begin
  insert into logloom_private.rule_values as v (rule_id, window_end, values, others)
  select
    k.rule_id, k.window_end,
    coalesce(
      jsonb_object_agg(
        logloom_private.group_key(k."group"), greatest(least(k.value, v_largest), -v_largest)
      ) filter (where k.place <= logloom_private.baseline_groups() and k.value is not null),
      '{}'
    ),
    case when count(*) <= logloom_private.baseline_groups() then k.unseen end
  from (
    select w.*, logloom_private.absent_value(p.aggregate, p.results) as unseen,
      row_number() over (
        partition by w.rule_id, w.window_end
        order by b.values ? logloom_private.group_key(w."group") desc nulls last,
          w.value desc nulls last, w."group"
      ) as place
    from unnest(p_windows) w
    join logloom.alert_rules r on r.rule_id = w.rule_id and r.baseline_days is not null
    join logloom_private.alert_plans p on p.rule_id = w.rule_id
    left join logloom_private.rule_values b
      on b.rule_id = w.rule_id and b.window_end = w.window_end - interval '5 minutes'
    where w.window_end = logloom_private.kept_window_end(w.window_end) and w.error is null
  ) k
  group by k.rule_id, k.window_end, k.unseen
  on conflict (rule_id, window_end) do update
  set values = excluded.values, others = excluded.others;
end;
$$;

-- Returns the groups whose incidents a window may end, because value and threshold of the group are
-- known. Null: all groups.
create function logloom_private.decided_groups(
  p_rule logloom.alert_rules,
  p_window_end timestamptz,
  p_seen logloom_private.alert_window[]
)
returns jsonb[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_plan logloom_private.alert_plans;
begin
  select p.* into v_plan from logloom_private.alert_plans p where p.rule_id = p_rule.rule_id;
  if p_rule.baseline_days is null and not coalesce(v_plan.results ? 'math', false) then
    return null;
  end if;
  return array(
    select coalesce(i."group", 'null')
    from logloom.alert_incidents i
    left join unnest(p_seen) s on s."group" is not distinct from i."group"
    where i.rule_id = p_rule.rule_id
      and i.resolved_at is null
      and coalesce(
        s.value, logloom_private.absent_value(v_plan.aggregate, v_plan.results)
      ) is not null
      and logloom_private.threshold_of_window(
        p_rule, row(null, null, p_window_end, null, null, i."group", null)
      ) is not null
  );
end;
$$;

-- The baseline of a rule as operations show it. known_days: how many days have a value at this
-- time.
create function logloom_private.shown_baseline(p_rule logloom.alert_rules)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads the stored values
begin
  return case when p_rule.baseline_days is not null then jsonb_build_object(
    'days', p_rule.baseline_days,
    'deviations', p_rule.threshold,
    'known_days', (
      select count(*)
      from logloom_private.rule_values v
      where v.rule_id = p_rule.rule_id and v.window_end = any (
        logloom_private.baseline_ends(
          coalesce(p_rule.last_evaluated_at, now()), p_rule.baseline_days
        )
      )
    )
  ) end;
end;
$$;
