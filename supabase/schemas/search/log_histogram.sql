create type public.logloom_log_level_counts as (
  debug bigint,
  info bigint,
  warn bigint,
  error bigint,
  "none" bigint
);

comment on type public.logloom_log_level_counts is
  'Numbers of records by level; none: records without a level.';

create type public.logloom_log_bucket as (
  ts timestamptz,
  count bigint,
  levels public.logloom_log_level_counts
);

comment on type public.logloom_log_bucket is
  'The numbers of records in one bucket. It begins at ts and lasts interval_seconds.';

create type public.logloom_log_histogram as (
  interval_seconds bigint,
  total bigint,
  buckets public.logloom_log_bucket[]
);

comment on type public.logloom_log_histogram is 'Records over time, in buckets of equal width.';

-- Builds SQL that counts a query's records in a range by time (steps of p_seconds) and the fields
-- in p_by (level, service).
create function logloom_private.counts_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_range tstzrange,
  p_seconds bigint,
  p_by text[]
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_source logloom_private.counted_source;
  v_by constant text := array_to_string(array(select ', l.' || b from unnest(p_by) b), '');
begin
  p_query := logloom_private.bound_query(p_tenant_id, p_query, p_range);
  -- Turns the query into count() by the fields in p_by.
  p_query.by_fields := p_by;
  p_query.plan := jsonb_build_object('reads', p_by);
  v_source := logloom_private.stats_source(p_tenant_id, p_query, true, p_seconds);
  return format(
    'select %s as ts%s, %s as count %s group by 1%2$s',
    logloom_private.bucket_sql(p_seconds), v_by, logloom_private.source_count_sql(v_source),
    logloom_private.source_sql(v_source.rows_sql)
  );
end;
$$;

create function logloom_private.log_histogram_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_range tstzrange,
  p_seconds bigint
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return format(
    $query$
      with counted as (
        select
          g.ts,
          sum(g.count)::bigint as count,
          sum(g.count) filter (where g.level = 'debug')::bigint as debug,
          sum(g.count) filter (where g.level = 'info')::bigint as info,
          sum(g.count) filter (where g.level = 'warn')::bigint as warn,
          sum(g.count) filter (where g.level = 'error')::bigint as error,
          sum(g.count) filter (where g.level is null)::bigint as none
        from (%4$s) g
        group by g.ts
      )
      select row(
        b.ts,
        coalesce(c.count, 0),
        row(
          coalesce(c.debug, 0), coalesce(c.info, 0), coalesce(c.warn, 0), coalesce(c.error, 0),
          coalesce(c.none, 0)
        )::public.logloom_log_level_counts
      )::public.logloom_log_bucket
      from generate_series(
        date_bin(%1$L::interval, %2$L::timestamptz, %5$L),
        date_bin(%1$L::interval, %3$L::timestamptz - interval '1 microsecond', %5$L),
        %1$L::interval
      ) b (ts)
      left join counted c on c.ts = b.ts
      order by b.ts
    $query$,
    make_interval(secs => p_seconds), lower(p_range), upper(p_range),
    logloom_private.counts_sql(p_tenant_id, p_query, p_range, p_seconds, '{level}'),
    logloom_private.bucket_origin(p_seconds)
  );
end;
$$;

create function logloom_private.read_log_histogram(
  p_scope logloom_private.reading_scope,
  p_query_dsl text,
  p_ts_from text,
  p_ts_to text,
  p_buckets integer
)
returns public.logloom_log_histogram
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
-- definer because row-level security would keep filters from using indexes
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'log_histogram');
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query logloom_private.compiled_query;
  v_seconds bigint;
  v_total bigint;
  v_buckets public.logloom_log_bucket[];
begin
  perform logloom_private.take_search_slot(v_scope);
  v_seconds := logloom_private.bucket_seconds(v_range, p_buckets);
  v_query := logloom_private.search_query(v_scope, p_query_dsl, now(), 'filter');
  execute 'select array('
    || logloom_private.log_histogram_sql(v_scope.tenant_id, v_query, v_range, v_seconds) || ')'
  into v_buckets;
  select sum(b.count) into v_total from unnest(v_buckets) b;
  return row(v_seconds, v_total, v_buckets)::public.logloom_log_histogram;
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse('search.took_too_long');
  return null;
end;
$$;

create function public.log_histogram(
  p_query_dsl text default null,
  p_ts_from text default null,
  p_ts_to text default null,
  p_buckets integer default null
)
returns public.logloom_log_histogram
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
begin
  return logloom_private.read_log_histogram(null, p_query_dsl, p_ts_from, p_ts_to, p_buckets);
end;
$$;

comment on function public.log_histogram(text, text, text, integer) is
  'Counts the records that match p_query_dsl over time and by level. Empty buckets are included. '
  'p_buckets 1 to 1000 (default 60). Errors: PT400, PT401, PT408.';
