create function public.search_logs(
  p_query_dsl text default null,
  p_ts_from text default null,
  p_ts_to text default null,
  p_limit integer default null,
  p_cursor text default null,
  p_order text default null
)
returns public.logloom_log_page
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
begin
  return logloom_private.read_log_page(
    null, p_query_dsl, p_ts_from, p_ts_to, p_limit, p_cursor, p_order
  );
end;
$$;

comment on function public.search_logs(text, text, text, integer, text, text) is
  'A page of records that match p_query_dsl in [p_ts_from, p_ts_to), by default the last hour. '
  'p_order: desc (newest first, the default) or asc. p_limit 1 to 1000 (default 100). p_cursor: '
  'next_cursor of the page before; it keeps the range of the first page. A page of a long range '
  'or of large records (some 8 MB) may end early, with fewer records and a next_cursor: only null '
  'says that there is no more. '
  'Errors: PT400, PT401, PT408 (took longer than 15 s).';
