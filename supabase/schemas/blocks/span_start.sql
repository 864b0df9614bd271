-- The first day of the span of p_days days that a day lies in. Spans of weeks begin on Mondays.
create function logloom_private.span_start(p_day date, p_days integer)
returns date
language sql
immutable
-- The first Monday of the calendar.
return p_day - (p_day - date '0001-01-01') % p_days;
