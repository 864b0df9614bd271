-- Returns how many days one block of a tenant may span: a quarter of the retention, but at least
-- one day and at most four weeks. From 28 days of retention on, whole weeks.
create function logloom_private.block_days(p_retention_days integer)
returns integer
language sql
immutable
return case
  when p_retention_days < 28 then greatest(p_retention_days / 4, 1)
  else least(p_retention_days / 28, 4) * 7
end;

-- Returns the first day of the span of p_days days that contains p_day. Spans of weeks begin on
-- Mondays.
create function logloom_private.span_start(p_day date, p_days integer)
returns date
language sql
immutable
-- 0001-01-01 is the first Monday of the calendar.
return p_day - (p_day - date '0001-01-01') % p_days;
