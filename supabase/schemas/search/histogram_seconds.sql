-- The least width of which p_buckets cover the range. Buckets are counted from the epoch, so that
-- one more than p_buckets may touch it.
create function logloom_private.histogram_seconds(p_range tstzrange, p_buckets integer)
returns bigint
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_seconds constant numeric := extract(epoch from upper(p_range) - lower(p_range));
  v_width bigint;
begin
  foreach v_width in array
    array[1, 5, 10, 15, 30, 60, 300, 900, 1800, 3600, 10800, 21600, 43200, 86400]
  loop
    if v_width * p_buckets >= v_seconds then
      return v_width;
    end if;
  end loop;
  return ceil(v_seconds / p_buckets / 86400) * 86400;
end;
$$;
