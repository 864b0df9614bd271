-- Returns the values of a query with partial values, in windows that end at every minute. p_source:
-- as in window_values.
create function logloom_private.preview_partial_values(
  p_query logloom_private.compiled_query,
  p_source text,
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_window_minutes integer
)
returns logloom_private.alert_window[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_window constant interval := make_interval(mins => p_window_minutes);
  v_kinds constant text[] := array(
    select a.item ->> 'kind'
    from jsonb_array_elements(logloom_private.stats_aggregates(p_query))
      with ordinality a (item, n)
    order by a.n
  );
  v_values logloom_private.alert_window[];
begin
  execute 'with partials as materialized (' || logloom_private.alert_partials_sql(
    'select 1 as group_id, s.* from (' || p_source || ') s', p_query.filter,
    logloom_private.alert_parts(p_query)
  )
    || '), moving as (select e.at, k.n, logloom_private.partial_value(k.kind, $6, '
    || 'sum(p.events) over w, sum(p.numbers) over w, sum(p.total) over w, min(p.least) over w, '
    || 'max(p.greatest) over w) as value '
    || 'from unnest($5) with ordinality k (kind, n) '
    || 'cross join generate_series($2 + interval ''1 minute'', $3, ''1 minute'') e (at) '
    || 'left join partials p on p.part = k.n and p.minute = e.at - interval ''1 minute'' '
    || 'window w as (partition by k.n order by e.at rows between $6 - 1 preceding and current row)'
    || ') select array(select row(null, v.at - $4, v.at, v.value, null, null, null)'
    || '::logloom_private.alert_window from (' || logloom_private.rule_value_sql(
      'select m.at, ' || logloom_private.numbered_sql(
        array(
          select format('max(m.value) filter (where m.n = %s)', n)
          from generate_subscripts(v_kinds, 1) n
        ),
        'v'
      ) || ' from moving m group by m.at',
      p_query.plan
    ) || ') v order by v.at offset $6 - 1)'
  into v_values
  using p_tenant_id, p_from - v_window, p_to, v_window, v_kinds, p_window_minutes;
  return v_values;
end;
$$;

-- Returns the values of a query in the windows between p_from and p_to. Raises PT400 if a query
-- with by has more than p_limit values.
create function logloom_private.preview_values(
  p_query logloom_private.compiled_query,
  p_source text,
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_window_minutes integer,
  p_limit integer
)
returns logloom_private.alert_window[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_grouped constant boolean := cardinality(p_query.by_fields) > 0;
  v_values logloom_private.alert_window[];
begin
  if logloom_private.has_partials(p_query) then
    return logloom_private.preview_partial_values(
      p_query, p_source, p_tenant_id, p_from, p_to, p_window_minutes
    );
  end if;
  v_values := logloom_private.window_values(
    p_query, p_source, p_tenant_id, p_from, p_to, p_window_minutes,
    case when v_is_grouped then p_limit + 1 end
  );
  if v_is_grouped and cardinality(v_values) > p_limit then
    perform logloom_private.refuse_stage_bound('by', p_limit, 'groups of all windows');
  end if;
  return v_values;
end;
$$;

-- Returns what is usual for each value of a preview. Reads the days before, because an unsaved rule
-- has no stored values.
create function logloom_private.preview_bands(
  p_query logloom_private.compiled_query,
  p_source text,
  p_preview public.logloom_alert_preview,
  p_values logloom_private.alert_window[],
  p_rule logloom.alert_rules,
  p_limit integer
)
returns logloom_private.alert_band[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_first constant timestamptz := least(
    (
      select min(c.minute) from logloom_private.log_counts c
      where c.tenant_id = p_rule.tenant_id
    ),
    (select min(b.first_ts) from logloom_private.blocks b where b.tenant_id = p_rule.tenant_id)
  );
  v_is_every_minute constant boolean := p_preview.step_minutes = 1;
  v_absent constant double precision :=
    logloom_private.absent_value(p_query.aggregate, logloom_private.rule_results(p_query));
  v_back interval;
  v_days integer := 0;
  v_past logloom_private.alert_window[] := '{}';
begin
  for v_day in 1 .. p_rule.baseline_days loop
    v_back := make_interval(days => v_day);
    exit when (p_preview.ts_from - v_back >= v_first) is not true;
    v_days := v_day;
    v_past := v_past || array(
      select row(
        null, null, w.window_end + v_back, w.value, null, w."group", null
      )::logloom_private.alert_window
      from unnest(logloom_private.preview_values(
        p_query, p_source, p_rule.tenant_id, p_preview.ts_from - v_back, p_preview.ts_to - v_back,
        p_rule.window_minutes, p_limit
      )) w
      where not v_is_every_minute
        or w.window_end = logloom_private.kept_window_end(w.window_end)
    );
  end loop;
  return array(
    select row(w.window_end, w."group", b.usual, b.threshold)::logloom_private.alert_band
    from unnest(p_values) w
    left join (
      select p.window_end, coalesce(p."group", 'null') as "group", array_agg(p.value) as values
      from unnest(v_past) p
      group by 1, 2
    ) d
      on d.window_end = case when v_is_every_minute
        then logloom_private.kept_window_end(w.window_end) else w.window_end end
      and d."group" = coalesce(w."group", 'null')
    cross join lateral logloom_private.usual_band(
      d.values || array_fill(v_absent, array[v_days - coalesce(cardinality(d.values), 0)]),
      p_rule.comparison, p_rule.threshold
    ) b
  );
end;
$$;
