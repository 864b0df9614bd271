-- Returns the time from which buckets are counted. Weeks begin on Mondays, but 1970 began on a
-- Thursday.
create function logloom_private.bucket_origin(p_seconds bigint)
returns timestamptz
language sql
immutable
return case when p_seconds % 604800 = 0 then timestamp '1970-01-05' else timestamp 'epoch' end
  at time zone 'UTC';

-- Builds SQL for the bucket of a record. l is the record's alias.
create function logloom_private.bucket_sql(p_seconds bigint)
returns text
language sql
stable
return format(
  'date_bin(%L::interval, l.ts, %L)',
  make_interval(secs => p_seconds), logloom_private.bucket_origin(p_seconds)
);

create function logloom_private.max_buckets()
returns integer
language sql
immutable
return 1000;

-- Returns the width of buckets in seconds: the smallest usual width at which p_buckets (default 60)
-- cover the range. Above 1 day, the width is whole days. The first bucket may begin before the
-- range, so one more bucket may be needed. PT400 if p_buckets is out of bounds.
create function logloom_private.bucket_seconds(p_range tstzrange, p_buckets integer)
returns bigint
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_seconds constant numeric := extract(epoch from upper(p_range) - lower(p_range));
  v_buckets constant integer := coalesce(p_buckets, 60);
  v_width bigint;
begin
  if v_buckets not between 1 and logloom_private.max_buckets() then
    perform logloom_private.refuse(
      'search.buckets_are_out_of_range', logloom_private.max_buckets()::text
    );
  end if;
  foreach v_width in array
    array[1, 5, 10, 15, 30, 60, 300, 900, 1800, 3600, 10800, 21600, 43200, 86400]
  loop
    if v_width * v_buckets >= v_seconds then
      return v_width;
    end if;
  end loop;
  return ceil(v_seconds / v_buckets / 86400) * 86400;
end;
$$;
