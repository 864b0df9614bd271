-- Returns enabled rules after p_after that the round has not evaluated yet, ordered by id.
create function logloom_private.next_alert_rules(
  p_after uuid,
  p_limit integer,
  p_round logloom_private.alert_rounds
)
returns uuid[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select r.rule_id
    from logloom.alert_rules r
    where r.enabled and r.kind = 'query'
      and r.asked_at < p_round.window_end
      and r.last_evaluated_at is distinct from p_round.window_end
      and (p_after is null or r.rule_id > p_after)
    order by r.rule_id
    limit p_limit
  );
end;
$$;

-- Returns the windows that a round evaluates: new windows, and open windows with late records. A
-- rule with a delay gets only closed windows.
create function logloom_private.due_alert_windows(
  p_rule_ids uuid[],
  p_round logloom_private.alert_rounds
)
returns setof logloom_private.alert_window
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select
    r.rule_id, e.window_end - make_interval(mins => r.window_minutes), e.window_end,
    null::double precision, null::text, null::jsonb, null::boolean
  from logloom_private.planned_alert_rules r
  cross join logloom_private.settings s
  left join logloom_private.alert_round_writes a on a.tenant_id = r.tenant_id
  cross join lateral generate_series(
    greatest(
      least(
        r.last_evaluated_at + interval '1 minute' - r.delay, p_round.window_end - s.alert_grace,
        r.reopened_from
      ),
      p_round.window_end - r.delay - logloom_private.alert_catch_up_limit()
    ),
    p_round.window_end - r.delay,
    '1 minute'
  ) e (window_end)
  where r.rule_id = any(p_rule_ids)
    -- Skips windows that ended before the rule was created or changed, because a search at that
    -- time may have shown later records.
    and e.window_end > r.asked_at
    -- A rule that was never evaluated gets only the last window.
    and (r.last_evaluated_at is not null or e.window_end = p_round.window_end - r.delay)
    -- An evaluated window is evaluated again only if late records arrived.
    and (
      r.last_evaluated_at is null
      or e.window_end > r.last_evaluated_at - r.delay
      or e.window_end > a.first_ts
      or e.window_end >= r.reopened_from
    );
end;
$$;

-- Computes the value of a window from the sums over its minutes, like the compiler's aggregates.
create function logloom_private.partial_value(
  p_aggregate text,
  p_window_minutes integer,
  p_events numeric,
  p_numbers numeric,
  p_total numeric,
  p_least numeric,
  p_greatest numeric
)
returns double precision
language sql
immutable
return case p_aggregate
  when 'count' then coalesce(p_events, 0)
  when 'rate' then coalesce(p_events, 0)::double precision / p_window_minutes
  when 'sum' then logloom_private.finite_double(coalesce(p_total, 0))
  when 'avg' then logloom_private.finite_double(p_total / nullif(p_numbers, 0))
  when 'min' then logloom_private.finite_double(p_least)
  when 'max' then logloom_private.finite_double(p_greatest)
end;

-- Returns the value of a rule with more than one result: the last result. Computes it from the sums
-- over the minutes of a window.
create function logloom_private.combined_value(
  p_group_id bigint,
  p_results jsonb,
  p_start timestamptz,
  p_end timestamptz
)
returns double precision
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_minutes constant integer := extract(epoch from p_end - p_start) / 60;
  v_values constant double precision[] := array(
    select logloom_private.partial_value(
      a.item ->> 'kind', v_minutes, sum(m.events), sum(m.numbers), sum(m.total), min(m.least),
      max(m.greatest)
    )
    from jsonb_array_elements(p_results -> 'aggregates') with ordinality a (item, n)
    left join logloom_private.alert_partials m
      on m.group_id = p_group_id and m.part = a.n and m.minute >= p_start and m.minute < p_end
    group by a.n, a.item
    order by a.n
  );
  v_value double precision;
begin
  execute logloom_private.rule_value_sql(
    'select ' || logloom_private.numbered_sql(
      array(select format('$1[%s]', n) from generate_subscripts(v_values, 1) n order by n), 'v'
    ),
    p_results
  )
  into v_value
  using v_values;
  return v_value;
end;
$$;

-- Adds a rule's value (its last result) to a select of its aggregates v1, v2 ….
create function logloom_private.rule_value_sql(p_select text, p_plan jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return format(
    'select g.v%s as value, g.* from (%s) g',
    greatest(cardinality(logloom_private.query_result_names(p_plan)), 1),
    logloom_private.math_sql(p_select, p_plan)
  );
end;
$$;

-- Returns the values of a query in adjacent windows from p_from to p_to. A query with by has one
-- value for each group that has records, so that each group fires on its own; at most p_limit
-- values. p_source: SQL with the columns of logloom.logs, before the query's filter. In it, $1 is
-- the tenant, and $2 and $3 are the range.
create function logloom_private.window_values(
  p_query logloom_private.compiled_query,
  p_source text,
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_window_minutes integer,
  p_limit integer default null
)
returns logloom_private.alert_window[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_window constant interval := make_interval(mins => p_window_minutes);
  v_value constant text := logloom_private.numbered_sql(
    logloom_private.stats_values_sql(
      logloom_private.stats_aggregates(p_query),
      -- Not count(*): the left join gives a window without records one row.
      row(null, 'count(l.ts)', null, false)::logloom_private.counted_source, p_window_minutes
    ),
    'v'
  );
  v_join text := 'left join ';
  v_group text := 'null::jsonb';
  v_values logloom_private.alert_window[];
begin
  if cardinality(p_query.by_sql) > 0 then
    v_join := 'join ';
    select 'jsonb_object($6, array[' || string_agg('to_jsonb(' || b || ') #>> ''{}''', ', ')
      || ']::text[])'
    into v_group
    from unnest(p_query.by_sql) b;
  elsif p_from + v_window = p_to then
    -- A single window needs no grouping by time.
    execute 'select array[row(null, $2, $3, w.value, null, null, null)'
      || '::logloom_private.alert_window] from (' || logloom_private.rule_value_sql(
        'select ' || v_value || ' from (' || p_source || ') l where (' || p_query.filter || ')',
        p_query.plan
      ) || ') w'
    into v_values
    using p_tenant_id, p_from, p_to;
    return v_values;
  end if;
  execute 'select array_agg(row(null, v.starts, v.starts + $4, v.value, null, v."group", null)'
    || '::logloom_private.alert_window) from (' || logloom_private.rule_value_sql(
      'select w.starts, ' || v_value || ', ' || v_group
        || ' as "group" from generate_series($2, $3 - $4, $4) w (starts) ' || v_join
        || '(select l.*, date_bin($4, l.ts, $2) as starts from (' || p_source || ') l where ('
        || p_query.filter || ')) l on l.starts = w.starts group by '
        || array_to_string(array['w.starts'] || p_query.by_sql, ', ') || ' limit $5',
      p_query.plan
    ) || ') v'
  into v_values
  using p_tenant_id, p_from, p_to, v_window, p_limit, p_query.by_fields;
  return coalesce(v_values, '{}');
end;
$$;

-- Evaluates the due windows of rules whose groups are complete. For a rule that has an error or is
-- paused, stores the error instead. Returns how many alerts fired.
create function logloom_private.judge_alert_rules(
  p_rule_ids uuid[],
  p_round logloom_private.alert_rounds,
  p_now timestamptz
)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set datestyle = 'ISO'
as $$
begin
  return logloom_private.settle_alert_windows(
    array(
      with due as materialized (
        select d.rule_id, d.window_start, d.window_end, r.group_id, r.aggregate,
          r.results, r.window_minutes,
          min(d.window_start) over (partition by d.rule_id) as first_start
        from logloom_private.due_alert_windows(p_rule_ids, p_round) d
        join logloom_private.planned_alert_rules r on r.rule_id = d.rule_id
      )
      select row(
        d.rule_id, d.window_start, d.window_end,
        case when d.results is null
          then logloom_private.partial_value(
            d.aggregate, d.window_minutes, t.events, t.numbers, t.total, t.least, t.greatest
          )
          else logloom_private.combined_value(d.group_id, d.results, d.window_start, d.window_end)
        end,
        null, null, null
      )::logloom_private.alert_window
      from due d
      join logloom_private.alert_groups g on g.group_id = d.group_id
      cross join lateral (
        select
          sum(m.events) as events, sum(m.numbers) as numbers, sum(m.total) as total,
          min(m.least) as least, max(m.greatest) as greatest
        from logloom_private.alert_partials m
        where m.group_id = d.group_id and m.minute >= d.window_start and m.minute < d.window_end
      ) t
      where g.write_seq >= p_round.write_seq_to
        and (
          g.filled_from < d.first_start or (g.filled_from = d.first_start and g.filled_id is null)
        )
      union all
      select row(
        r.rule_id, p_round.window_end, p_round.window_end, null,
        coalesce(r.refusal, g.last_error), null, null
      )::logloom_private.alert_window
      from logloom_private.planned_alert_rules r
      left join logloom_private.alert_groups g on g.group_id = r.group_id
      where r.rule_id = any(p_rule_ids)
        and r.asked_at < p_round.window_end
        and (
          r.refusal is not null
          or (g.last_error is not null and g.retry_at > p_round.window_end)
        )
    ),
    p_round, p_now
  );
end;
$$;
