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
  'The aggregates of p_query_dsl, count() where it has none: a row for each group, {group, value, '
  'values: {name: number}, total_groups, warnings}, largest first, of buckets of time the oldest '
  'first; one row with group {} without by. For patterns a row for each pattern, values {count, '
  'first, last, example}. p_limit 1 to 1000 (default 100); rows with long values end after 8 MB, '
  'and total_groups says how many there are. Errors: PT400, PT401, PT408, PT429.';
