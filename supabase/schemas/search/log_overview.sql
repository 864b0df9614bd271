-- Returns the hosts without a record in the last 24th of a range, but with seven or more in the
-- last 24th of the range before. By chance this happens once in a thousand times. Null if hosts are
-- hidden, or too many for a list.
create function logloom_private.silent_hosts(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_range tstzrange,
  p_shift interval
)
returns text[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from constant timestamptz := upper(p_range) - (upper(p_range) - lower(p_range)) / 24;
  v_lately constant tstzrange := tstzrange(v_from, upper(p_range));
  v_before constant tstzrange := tstzrange(v_from - p_shift, upper(p_range) - p_shift);
begin
  if logloom_private.is_hidden('host', p_query.hidden_fields) then
    return null;
  end if;
  return (
    with after as materialized (
      select f.* from logloom_private.facet_counts(p_tenant_id, p_query, v_lately, 'host') f
    )
    select case
      when (select bool_or(a.is_cut) from after a) or bool_or(b.is_cut) then null
      else coalesce(
        array_agg(b.value order by b.records desc, b.value collate "C")
          filter (where a.value is null and b.value is not null and b.records >= 7),
        '{}'
      )
    end
    from logloom_private.facet_counts(p_tenant_id, p_query, v_before, 'host') b
    left join after a using (value)
  );
end;
$$;

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
  v_records_lately bigint;
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
        select c.*, false as is_before, c.ts - $2 as age from (%s) c
        union all
        select c.*, true, c.ts - $2 + $4 from (%s) c
      ), parts as (
        select
          c.service, c.is_before, p.part, sum(c.count) as records,
          coalesce(sum(c.count) filter (where c.level = 'error'), 0) as errors,
          max(c.ts) filter (where c.count > 0) as last_seen
        from counted c
        cross join lateral (
          select least(
            greatest(floor(24 * extract(epoch from c.age) / extract(epoch from $3 - $2)), 0), 23
          )
        ) p (part)
        group by c.service, c.is_before, p.part
      ), services as (
        select
          p.service,
          coalesce(sum(p.records) filter (where not p.is_before), 0)::bigint as records,
          coalesce(sum(p.errors) filter (where not p.is_before), 0)::bigint as errors,
          coalesce(sum(p.records) filter (where p.is_before), 0)::bigint as records_before,
          coalesce(sum(p.errors) filter (where p.is_before), 0)::bigint as errors_before,
          max(p.last_seen) as last_seen,
          jsonb_object_agg(p.part, p.records) filter (where not p.is_before) as records_of,
          jsonb_object_agg(p.part, p.errors) filter (where not p.is_before) as errors_of,
          coalesce(sum(p.records) filter (where p.is_before and p.part = 23), 0)::bigint
            as records_before_lately,
          coalesce(sum(p.errors) filter (where p.is_before and p.part = 23), 0)::bigint
            as errors_before_lately
        from parts p
        group by p.service
      )
      select
        (select count(*) from services s where s.records > 0 or s.records_before > 0),
        (select sum(p.records) from parts p where p.part = 23),
        array(
          select row(
            s.service, s.records, s.errors, s.records_before, s.errors_before, s.last_seen,
            s.errors_before_lately,
            array(
              select coalesce((s.errors_of ->> n::text)::bigint, 0) from generate_series(0, 23) n
            ),
            s.records_before_lately,
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
  into v_answer.total_services, v_records_lately, v_answer.services
  using v_limit, lower(v_range), upper(v_range), v_shift;
  -- Counting hosts reads the records, so hosts are counted only if the records are few.
  if coalesce(v_records_lately, 0) <= 200000 then
    v_answer.silent_hosts := logloom_private.silent_hosts(v_tenant_id, v_query, v_range, v_shift);
  end if;
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
  'first. Each has its records and errors in the range, in 24 equal parts of the range, and in the '
  'same hours of the days before. last_seen is the time of its newest record. silent_hosts: the '
  'hosts without a record in the last of these parts. p_limit 1 to 1000 (default 100). Errors: '
  'PT400, PT401, PT408, PT429.';
