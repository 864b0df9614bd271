-- Values

-- Whether a value fires. No data, a null, never does.
create function logloom_private.alert_condition_holds(
  p_value double precision,
  p_comparison text,
  p_threshold double precision
)
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
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
end;
$$;

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
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case p_aggregate
    when 'count' then coalesce(p_events, 0)
    when 'rate' then coalesce(p_events, 0)::double precision / p_window_minutes
    when 'sum' then logloom_private.finite_double(coalesce(p_total, 0))
    when 'avg' then logloom_private.finite_double(p_total / nullif(p_numbers, 0))
    when 'min' then logloom_private.finite_double(p_least)
    when 'max' then logloom_private.finite_double(p_greatest)
  end;
end;
$$;
