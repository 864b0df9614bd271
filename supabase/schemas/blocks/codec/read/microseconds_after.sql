-- How long after another a time is; both are finite.
create function logloom_private.microseconds_after(p_first timestamptz, p_ts timestamptz)
returns bigint
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return (extract(epoch from p_ts - p_first) * 1000000)::bigint;
end;
$$;
