-- The expression, over alias l, that rows are grouped by for a bucket of time.
create function logloom_private.bucket_sql(p_seconds bigint)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return format('date_bin(%L::interval, l.ts, ''epoch'')', make_interval(secs => p_seconds));
end;
$$;
