-- The UTC day of an instant.
create function logloom_private.utc_day(p_ts timestamptz)
returns date
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (p_ts at time zone 'UTC')::date;
end;
$$;
