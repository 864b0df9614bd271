create function logloom_private.utc_day(p_ts timestamptz)
returns date
language sql
immutable
return (p_ts at time zone 'UTC')::date;

create function logloom_private.day_start(p_day date)
returns timestamptz
language sql
immutable
return p_day::timestamp at time zone 'UTC';
