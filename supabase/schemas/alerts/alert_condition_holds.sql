-- Whether a value fires. No data, a null, never does.
create function logloom_private.alert_condition_holds(
  p_value double precision,
  p_comparison text,
  p_threshold double precision
)
returns boolean
language sql
immutable
return coalesce(
  case p_comparison
    when 'gt' then p_value > p_threshold
    when 'gte' then p_value >= p_threshold
    when 'lt' then p_value < p_threshold
    when 'lte' then p_value <= p_threshold
    when 'eq' then p_value = p_threshold
    when 'neq' then p_value <> p_threshold
  end,
  false
);
