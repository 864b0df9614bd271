-- The UTC day of an instant.
create function logloom_private.utc_day(p_ts timestamptz)
returns date
language sql
immutable
return (p_ts at time zone 'UTC')::date;
