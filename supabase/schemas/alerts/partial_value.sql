-- A window's value from the sums over its minutes, as the compiler's aggregates have it.
create function logloom_private.partial_value(
  p_aggregate text,
  p_window_minutes integer,
  p_events numeric,
  p_numbers numeric,
  p_total numeric,
  p_least numeric,
  p_greatest numeric
)
returns double precision
language sql
immutable
return case p_aggregate
  when 'count' then coalesce(p_events, 0)
  when 'rate' then coalesce(p_events, 0)::double precision / p_window_minutes
  when 'sum' then logloom_private.finite_double(coalesce(p_total, 0))
  when 'avg' then logloom_private.finite_double(p_total / nullif(p_numbers, 0))
  when 'min' then logloom_private.finite_double(p_least)
  when 'max' then logloom_private.finite_double(p_greatest)
end;
