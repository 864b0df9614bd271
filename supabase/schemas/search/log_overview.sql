create function logloom_private.read_log_overview(
  p_scope logloom_private.reading_scope,
  p_query_dsl text,
  p_ts_from text,
  p_ts_to text,
  p_limit integer
)
returns public.logloom_log_overview
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set jit = off
as $$
-- definer because only search functions may run SQL over records
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'log_overview');
  v_tenant_id constant text := v_scope.tenant_id;
  v_limit constant integer := logloom_private.list_limit(
    p_limit, 'search.page_limit_is_out_of_range'
  );
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_length constant double precision := extract(epoch from upper(v_range) - lower(v_range));
  -- Shifted by whole days, because a load that comes every morning is not a change.
  v_shift constant interval := make_interval(hours => 24 * ceil(v_length / 86400)::integer);
  v_before constant tstzrange := tstzrange(lower(v_range) - v_shift, upper(v_range) - v_shift);
  v_seconds constant bigint := 60 * ceil(v_length / 86400)::bigint;
  v_query logloom_private.compiled_query;
  v_answer public.logloom_log_overview;
begin
  perform logloom_private.take_search_slot(v_scope);
  v_query := logloom_private.search_query(v_scope, p_query_dsl, now(), 'filter');
  v_answer.ts_from := lower(v_range);
  v_answer.ts_to := upper(v_range);
  v_answer.before_from := lower(v_before);
  v_answer.before_to := upper(v_before);
  v_answer.warnings := logloom_private.warnings_of(v_query);
  if logloom_private.kept_from(v_tenant_id, lower(v_before)) > lower(v_before) then
    v_answer.warnings := v_answer.warnings || row(
      null, 'some records of the range before are no longer kept: its counts are too low',
      'Ask for a shorter or a later range.'
    )::public.logloom_query_warning;
  end if;
  execute format(
    $query$
      with counted as (
        select
          c.*,
          least(
            greatest(floor(24 * extract(epoch from c.ts - $2) / extract(epoch from $3 - $2)), 0), 23
          ) as part
        from (%s) c
        union all
        -- The range before has no parts.
        select c.*, null from (%s) c
      ), parts as (
        select
          c.service, c.part, sum(c.count) as records,
          coalesce(sum(c.count) filter (where c.level = 'error'), 0) as errors,
          max(c.ts) filter (where c.count > 0) as last_seen
        from counted c
        group by c.service, c.part
      ), services as (
        select
          p.service,
          coalesce(sum(p.records) filter (where p.part is not null), 0)::bigint as records,
          coalesce(sum(p.errors) filter (where p.part is not null), 0)::bigint as errors,
          coalesce(sum(p.records) filter (where p.part is null), 0)::bigint as records_before,
          coalesce(sum(p.errors) filter (where p.part is null), 0)::bigint as errors_before,
          max(p.last_seen) as last_seen,
          jsonb_object_agg(p.part, p.records) filter (where p.part is not null) as records_of,
          jsonb_object_agg(p.part, p.errors) filter (where p.part is not null) as errors_of
        from parts p
        group by p.service
      )
      select
        (select count(*) from services s where s.records > 0 or s.records_before > 0),
        array(
          select row(
            s.service, s.records, s.errors, s.records_before, s.errors_before, s.last_seen,
            array(
              select coalesce((s.errors_of ->> n::text)::bigint, 0) from generate_series(0, 23) n
            ),
            array(
              select coalesce((s.records_of ->> n::text)::bigint, 0) from generate_series(0, 23) n
            )
          )::public.logloom_log_service
          from services s
          where s.records > 0 or s.records_before > 0
          order by s.records desc, s.records_before desc, s.service collate "C"
          limit $1
        )
    $query$,
    logloom_private.counts_sql(v_tenant_id, v_query, v_range, v_seconds, '{level,service}'),
    logloom_private.counts_sql(v_tenant_id, v_query, v_before, v_seconds, '{level,service}')
  )
  into v_answer.total_services, v_answer.services
  using v_limit, lower(v_range), upper(v_range);
  return v_answer;
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse('search.took_too_long');
  return null;
end;
$$;

create function public.log_overview(
  p_query_dsl text default null,
  p_ts_from text default null,
  p_ts_to text default null,
  p_limit integer default null
)
returns public.logloom_log_overview
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
begin
  return logloom_private.read_log_overview(null, p_query_dsl, p_ts_from, p_ts_to, p_limit);
end;
$$;

comment on function public.log_overview(text, text, text, integer) is
  'Returns the services of the records in [p_ts_from, p_ts_to) that match p_query_dsl, the largest '
  'first. Each has its numbers of records and errors in the range, in the same hours of the day '
  'before (for a range of several days: as many days earlier) and in each of 24 equal parts of the '
  'range, and the time of its newest record. p_limit 1 to 1000 (default 100). Errors: PT400, '
  'PT401, PT408, PT429.';
