-- Returns the aggregates of a query for a tenant. Jobs call it, too.
create function logloom_private.log_stats_of(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_range tstzrange,
  p_limit integer
)
returns setof public.logloom_log_stat
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
begin
  if p_query.plan ? 'patterns' then
    return query
    select p.*
    from logloom_private.log_patterns_of(p_tenant_id, p_query, p_range, p_limit) p;
  else
    return query execute 'select s.*, $1 from ('
      || logloom_private.log_stats_sql(p_tenant_id, p_query, p_range, p_limit) || ') s'
    using logloom_private.warnings_of(p_query);
  end if;
end;
$$;

create function logloom_private.read_log_stats(
  p_scope logloom_private.reading_scope,
  p_query_dsl text,
  p_ts_from text,
  p_ts_to text,
  p_limit integer
)
returns setof public.logloom_log_stat
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
-- definer because row-level security would keep filters from using indexes
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'log_stats');
  v_tenant_id constant text := v_scope.tenant_id;
  v_limit constant integer := logloom_private.list_limit(
    p_limit, 'search.page_limit_is_out_of_range'
  );
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query logloom_private.compiled_query;
  v_rows public.logloom_log_stat[];
begin
  perform logloom_private.take_search_slot(v_scope);
  v_query := logloom_private.search_query(v_scope, p_query_dsl, now(), 'rows');
  v_query.warnings := v_query.warnings
    || logloom_private.sampling_warnings(v_tenant_id, v_range);
  -- Group values may be long: stop after max_page_bytes.
  v_rows := array(
    select r.row
    from (
      select
        s as row,
        sum(octet_length(to_json(s)::text)) over (
          rows between unbounded preceding and 1 preceding
        ) as before
      from logloom_private.log_stats_of(v_tenant_id, v_query, v_range, v_limit) s
    ) r
    where coalesce(r.before, 0) < (select t.max_page_bytes from logloom_private.settings t)
  );
  -- Perhaps no event has the attribute: no records, no numbers, or null as the only group.
  if v_rows[1]."group" = '{}' and v_rows[1].value = 0
    or cardinality(v_rows) > 0
    and not exists (select from unnest(v_rows) r where r.value is not null)
    or cardinality(v_rows) = 1 and jsonb_path_exists(
      v_rows[1]."group", '$.keyvalue() ? (@.value == null && @.key like_regex "^(?:@|attrs)")'
    )
  then
    v_query.warnings := v_query.warnings
      || logloom_private.hints_for_nothing(v_scope, p_query_dsl, v_range);
    v_rows[1].warnings := logloom_private.warnings_of(v_query);
  end if;
  return query
  select r.* from unnest(v_rows) r;
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse('search.took_too_long');
end;
$$;

create function public.log_stats(
  p_query_dsl text default null,
  p_ts_from text default null,
  p_ts_to text default null,
  p_limit integer default null
)
returns setof public.logloom_log_stat
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
begin
  return query
  select s.*
  from logloom_private.read_log_stats(null, p_query_dsl, p_ts_from, p_ts_to, p_limit) s;
end;
$$;

comment on function public.log_stats(text, text, text, integer) is
  'Returns the aggregates of p_query_dsl (default count()), a row for each group: {group, value, '
  'values: {name: number}, total_groups, warnings}. The largest group comes first; in a query with '
  'buckets, the oldest bucket. A query without "by" has one row, with group {}. For patterns there '
  'is one row for each pattern, with values {count, first, last, example}. p_limit 1 to 1000 '
  '(default 100). After 8 MB no more rows are returned; total_groups is the number of all rows. '
  'Errors: PT400, PT401, PT408, PT429.';
