create function logloom_private.milliseconds_since(p_at timestamptz)
returns double precision
language sql
return extract(epoch from clock_timestamp() - p_at) * 1000;
