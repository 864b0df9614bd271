-- When a UTC day begins.
create function logloom_private.day_start(p_day date)
returns timestamptz
language sql
immutable
return p_day::timestamp at time zone 'UTC';
