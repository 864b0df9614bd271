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

-- Returns what is usual for each of the values of a preview. Reads the days before: an unsaved rule
-- has no kept values.
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

-- Returns what an unsaved rule would have found in the last 24 hours. Windows with partial values
-- end at every minute; other windows are adjacent. So each record is read only once.
create function logloom_private.preview_windows(p_tenant_id text, p_rule logloom.alert_rules)
returns public.logloom_alert_preview
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because the compiler's SQL would use no index under row-level security
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_max_groups constant integer := (select s.search_groups from logloom_private.settings s);
  v_query logloom_private.compiled_query;
  v_source text;
  v_values logloom_private.alert_window[];
  v_bands logloom_private.alert_band[];
  v_result public.logloom_alert_preview;
begin
  p_rule.tenant_id := v_tenant_id;
  perform logloom_private.take_search_slot(
    logloom_private.scope_of_view(v_tenant_id, p_rule.view_id)
  );
  perform logloom_private.check_rule_query(p_rule.query_dsl);
  v_query := logloom_private.compile_rule(
    v_tenant_id, p_rule.query_dsl, p_rule.view_id
  );
  v_query.filter := logloom_private.filter_by_scan_slot(v_query.tree);
  if v_query.names_now then
    perform logloom_private.refuse('alerts.preview_names_now');
  end if;
  v_source := 'select s.* from logloom.logs s '
    || 'where s.tenant_id = $1 and s.ts >= $2 and s.ts < $3 union all '
    || 'select s.* from logloom_private.sealed_rows('
    || format(
      '%s, $2, $3, %L, null) s', logloom_private.scanned_tenant_sql('$1'), v_query.tree
    );
  v_result.ts_to := date_trunc('minute', least(
    now(), logloom_private.watermark((logloom_private.queue_state()).oldest_received_at)
  ));
  v_result.ts_from := v_result.ts_to - interval '24 hours';
  v_result.step_minutes := case when logloom_private.has_partials(v_query)
    then 1 else p_rule.window_minutes end;
  v_values := logloom_private.preview_values(
    v_query, v_source, v_tenant_id, v_result.ts_from, v_result.ts_to, p_rule.window_minutes,
    v_max_groups
  );
  if p_rule.baseline_days is not null then
    v_bands := logloom_private.preview_bands(
      v_query, v_source, v_result, v_values, p_rule, v_max_groups
    );
  end if;
  return logloom_private.completed_preview(
    v_result, v_values, cardinality(v_query.by_fields) > 0, p_rule, v_bands
  );
end;
$$;

create function public.preview_alert_rule(
  p_tenant_id text default null,
  p_rule_id uuid default null,
  p_query_dsl text default null,
  p_threshold double precision default null,
  p_comparison text default null,
  p_window_minutes integer default null,
  p_cooldown_minutes integer default null,
  p_view_id uuid default null,
  p_for_minutes integer default null,
  p_baseline jsonb default null
)
returns public.logloom_alert_preview
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_rule logloom.alert_rules;
begin
  if p_rule_id is not null then
    select r.* into v_rule
    from logloom.alert_rules r
    where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id;
    if not found then
      perform logloom_private.refuse('alerts.rule_not_found');
    elsif v_rule.kind = 'new_error' then
      perform logloom_private.refuse('alerts.new_error_has_no_preview');
    end if;
  end if;
  v_rule.view_id := coalesce(p_view_id, v_rule.view_id);
  v_rule.query_dsl := coalesce(p_query_dsl, v_rule.query_dsl);
  v_rule.comparison := coalesce(p_comparison, v_rule.comparison);
  v_rule.window_minutes := coalesce(p_window_minutes, v_rule.window_minutes);
  v_rule.cooldown_minutes := coalesce(p_cooldown_minutes, v_rule.cooldown_minutes, 0);
  v_rule.for_minutes := coalesce(p_for_minutes, v_rule.for_minutes, 0);
  perform logloom_private.require_parameter('p_query_dsl', v_rule.query_dsl is null);
  v_rule := logloom_private.with_baseline(v_rule, p_baseline, p_threshold);
  perform logloom_private.require_parameter('p_comparison', v_rule.comparison is null);
  perform logloom_private.require_parameter('p_window_minutes', v_rule.window_minutes is null);
  if not (v_rule.threshold > '-Infinity' and v_rule.threshold < 'Infinity') then
    perform logloom_private.refuse('alerts.alert_rules_threshold_is_finite');
  elsif v_rule.comparison not in ('gt', 'gte', 'lt', 'lte', 'eq', 'neq') then
    perform logloom_private.refuse('alerts.alert_rules_comparison_is_known');
  elsif v_rule.baseline_days is not null
    and (v_rule.threshold not between 0.01 and 1000 or v_rule.comparison in ('eq', 'neq'))
  then
    perform logloom_private.refuse('alerts.alert_rules_baseline_is_valid');
  elsif v_rule.window_minutes not between 1 and 1440 then
    perform logloom_private.refuse('alerts.alert_rules_window_is_valid');
  elsif v_rule.cooldown_minutes not between 0 and 10080 then
    perform logloom_private.refuse('alerts.alert_rules_cooldown_is_valid');
  elsif v_rule.for_minutes not between 0 and 1440 then
    perform logloom_private.refuse('alerts.alert_rules_for_minutes_are_valid');
  end if;
  return logloom_private.preview_windows(p_tenant_id, v_rule);
exception when query_canceled then
  perform logloom_private.refuse('alerts.preview_took_too_long');
  return null;
end;
$$;

comment on function public.preview_alert_rule(
  text, uuid, text, double precision, text, integer, integer, uuid, integer, jsonb
) is
  'When a rule would have fired in the last 24 hours, and the values that it would have seen: the '
  'rule p_rule_id, with the other parameters in place of its own. Percentiles, distinct counts '
  'and queries with by use adjacent windows. With by each group fires on its own. With a baseline '
  'the days before are read, too. Errors: PT400, PT401, PT403, PT404, PT408.';
