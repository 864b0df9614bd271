create function logloom_private.max_series()
returns integer
language sql
immutable
return 20;

-- Returns the largest groups of the range by their value, as arrays of texts. These groups
-- get their own series.
create function logloom_private.largest_groups(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_range tstzrange
)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_groups jsonb;
begin
  p_query.plan := p_query.plan - 'bucket' - 'sort' - 'limit' - 'having';
  execute 'select jsonb_agg(array(select r.g ->> n from unnest($1) with ordinality u (n, i) '
    || 'order by u.i)) from ('
    || logloom_private.log_stats_sql(
      p_tenant_id, p_query, p_range, logloom_private.max_series()
    )
    || ') r (g, v, vs, t)'
  into v_groups
  using p_query.by_fields;
  -- Limits the size of the groups, because the groups become part of the statement.
  return coalesce(
    (
      select jsonb_agg(g.texts order by g.n)
      from (
        select u.*, sum(octet_length(u.texts::text)) over (order by u.n) as bytes
        from jsonb_array_elements(v_groups) with ordinality u (texts, n)
      ) g
      where g.bytes <= (select s.max_page_bytes / 8 from logloom_private.settings s)
    ),
    '[]'
  );
end;
$$;

-- Returns the value of a bucket without records.
create function logloom_private.empty_value(p_query logloom_private.compiled_query)
returns double precision
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_value double precision;
begin
  execute format(
    'select g.v%s from (%s) g', logloom_private.value_number(p_query.plan),
    logloom_private.math_sql(
      'select ' || logloom_private.numbered_sql(
        array(
          select case
            when a.item ->> 'kind' in ('count', 'rate', 'sum', 'count_distinct')
              then '0::double precision'
            else 'null::double precision' end
          from jsonb_array_elements(logloom_private.series_aggregates(p_query))
            with ordinality a (item, n)
          order by a.n
        ),
        'v'
      ),
      p_query.plan
    )
  )
  into v_value;
  return v_value;
end;
$$;

-- Builds SQL that selects the bucket, the number of the series (from 0; null for other groups) and
-- the value.
create function logloom_private.log_series_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_range tstzrange,
  p_seconds bigint,
  p_groups jsonb
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_aggregates constant jsonb := logloom_private.series_aggregates(p_query);
  v_bucket constant text := logloom_private.bucket_sql(p_seconds);
  v_keys text[] := p_query.by_sql;
  v_key text := '0';
  v_source logloom_private.counted_source;
begin
  v_source := logloom_private.stats_source(
    p_tenant_id, logloom_private.bound_query(p_tenant_id, p_query, p_range),
    not jsonb_path_exists(v_aggregates, '$[*] ? (@.kind != "count" && @.kind != "rate")'),
    p_seconds
  );
  if cardinality(v_keys) > 0 and v_source.count_sql like '%l.events%' then
    -- Find the series once for each group of a bucket, not for each minute.
    v_source.rows_sql := logloom_private.rows_from(
      '(select ' || v_bucket || ' as ts, l.level, l.service, sum(l.events) as events, ' || (
        select string_agg(format('%s as b%s', k.sql, k.n), ', ' order by k.n)
        from unnest(v_keys) with ordinality k (sql, n)
      )
      || ' ' || logloom_private.source_sql(v_source.rows_sql) || ' group by 1, 2, 3, '
      || array_to_string(array(select n + 4 from generate_subscripts(v_keys, 1) n), ', ') || ') l'
    );
    v_keys := array(select 'l.b' || n from generate_subscripts(v_keys, 1) n);
  end if;
  if cardinality(v_keys) > 0 then
    v_key := '(' || quote_literal((
      select coalesce(jsonb_object_agg(g.texts::text, g.n - 1), '{}')
      from jsonb_array_elements(p_groups) with ordinality g (texts, n)
    )) || '::jsonb ->> to_jsonb(array['
      || (select string_agg('to_jsonb(' || b || ') #>> ''{}''', ', ') from unnest(v_keys) b)
      || '])::text)::integer';
  end if;
  return format(
    'select g.ts, g.series, g.v%s from (%s) g',
    logloom_private.value_number(p_query.plan),
    logloom_private.math_sql(
      'select ' || v_bucket || ' as ts, ' || v_key || ' as series, '
        || logloom_private.numbered_sql(
          logloom_private.stats_values_sql(v_aggregates, v_source, p_seconds::numeric / 60), 'v'
        )
        || ' ' || logloom_private.source_sql(v_source.rows_sql) || ' group by 1, 2',
      p_query.plan
    )
  );
end;
$$;

create function logloom_private.read_log_series(
  p_scope logloom_private.reading_scope,
  p_query_dsl text,
  p_ts_from text,
  p_ts_to text,
  p_buckets integer
)
returns public.logloom_log_series_answer
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set jit = off
as $$
-- definer because row-level security would keep filters from using indexes
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'log_series');
  v_tenant_id constant text := v_scope.tenant_id;
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query logloom_private.compiled_query;
  v_seconds bigint;
  v_groups jsonb := '[[]]';
  v_series public.logloom_log_series[];
begin
  perform logloom_private.take_search_slot(v_scope);
  v_seconds := logloom_private.bucket_seconds(v_range, p_buckets);
  v_query := logloom_private.search_query(v_scope, p_query_dsl, now(), 'series');
  v_query.warnings := v_query.warnings
    || logloom_private.sampling_warnings(v_scope.tenant_id, v_range);
  v_seconds := coalesce((v_query.plan -> 'bucket')::bigint, v_seconds);
  if extract(epoch from upper(v_range) - lower(v_range)) / v_seconds
    > logloom_private.max_buckets()
  then
    perform logloom_private.refuse_stage_bound('by', logloom_private.max_buckets(), 'buckets');
  end if;
  if cardinality(v_query.by_sql) > 0 then
    v_groups := logloom_private.largest_groups(v_tenant_id, v_query, v_range);
  end if;
  execute 'with found (ts, series, value) as materialized ('
    || logloom_private.log_series_sql(v_tenant_id, v_query, v_range, v_seconds, v_groups)
    || ') '
    || $query$
      select array_agg(
        row(
          case when s.n is not null then jsonb_object($1::text[], s.texts) end, p.points
        )::public.logloom_log_series
        order by s.n nulls last
      )
      from (
        select (g.n - 1)::integer as n, array(select jsonb_array_elements_text(g.texts)) as texts
        from jsonb_array_elements($2) with ordinality g (texts, n)
        union all
        select null, null where exists (select from found f where f.series is null)
      ) s
      cross join lateral (
        select jsonb_agg(
          jsonb_build_array(
            to_char(b.ts at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
            coalesce(f.value, $3)
          )
          order by b.ts
        ) as points
        from generate_series(
          date_bin($4, lower($5), $6),
          date_bin($4, upper($5) - interval '1 microsecond', $6),
          $4
        ) b (ts)
        left join found f on f.ts = b.ts and f.series is not distinct from s.n
      ) p
    $query$
  into v_series
  using
    v_query.by_fields, v_groups,
    logloom_private.empty_value(v_query),
    make_interval(secs => v_seconds), v_range, logloom_private.bucket_origin(v_seconds);
  v_series := coalesce(v_series, '{}');
  if cardinality(v_series) < 2 and not jsonb_path_exists(
    to_jsonb(v_series), '$[*].points[*][1] ? (@ != null && @ != 0)'
  ) then
    v_query.warnings := v_query.warnings
      || logloom_private.hints_for_nothing(v_scope, p_query_dsl, v_range);
  end if;
  return row(
    v_seconds, v_series, logloom_private.warnings_of(v_query)
  )::public.logloom_log_series_answer;
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse('search.took_too_long');
  return null;
end;
$$;

create function public.log_series(
  p_query_dsl text default null,
  p_ts_from text default null,
  p_ts_to text default null,
  p_buckets integer default null
)
returns public.logloom_log_series_answer
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
begin
  return logloom_private.read_log_series(null, p_query_dsl, p_ts_from, p_ts_to, p_buckets);
end;
$$;

comment on function public.log_series(text, text, text, integer) is
  'Returns the last math of p_query_dsl, or else its first aggregate (default count()), over time: '
  '{interval_seconds, series: [{group, points: [[ts, value], …]}], warnings}. Each of the largest '
  '20 groups has a series. All other groups share one, with group null. An empty bucket has the '
  'value 0 for count, rate, sum and count_distinct, and null for others. rate is per minute of a '
  'bucket. p_buckets 1 to 1000 (default 60). A width in the query, such as by (5m), replaces '
  'p_buckets. Errors: PT400, PT401, PT408, PT429.';
