create function logloom_private.utc_day(p_ts timestamptz)
returns date
language plpgsql
immutable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return (p_ts at time zone 'UTC')::date;
end;
$$;

revoke all on function logloom_private.utc_day(timestamptz) from public;

comment on function logloom_private.utc_day(timestamptz) is 'The UTC day of an instant.';

create function logloom_private.day_start(p_day date)
returns timestamptz
language plpgsql
immutable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return p_day::timestamp at time zone 'UTC';
end;
$$;

revoke all on function logloom_private.day_start(date) from public;

comment on function logloom_private.day_start(date) is 'When a UTC day begins.';
