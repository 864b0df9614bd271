-- When a UTC day begins.
create function logloom_private.day_start(p_day date)
returns timestamptz
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return p_day::timestamp at time zone 'UTC';
end;
$$;
