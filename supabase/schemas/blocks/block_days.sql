-- How many days one block of a tenant may span: a quarter of the retention, at least one day, whole
-- weeks if more than one day, four weeks at most.
create function logloom_private.block_days(p_retention_days integer)
returns integer
language sql
immutable
return case
  when p_retention_days < 28 then greatest(p_retention_days / 4, 1)
  else least(p_retention_days / 28, 4) * 7
end;

-- The first day of the span of p_days days that contains a day. Spans of weeks begin on Mondays.
create function logloom_private.span_start(p_day date, p_days integer)
returns date
language sql
immutable
-- 0001-01-01 is the first Monday of the calendar.
return p_day - (p_day - date '0001-01-01') % p_days;
