-- True if p_at is in an occurrence. An occurrence begins at a local time of the zone and lasts its
-- minutes. If the clocks skip the start, PostgreSQL takes a later time. If the start comes twice,
-- it takes the second.
create function logloom_private.recurs_at(p_recurrence jsonb, p_at timestamptz)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
    select
    from generate_series(0, 8) n (days_ago)
    cross join lateral (
      select (p_at at time zone (p_recurrence ->> 'time_zone'))::date - n.days_ago as day
    ) d
    cross join lateral (
      select
        (d.day + (p_recurrence ->> 'start')::time) at time zone (p_recurrence ->> 'time_zone') as at
    ) s
    where p_recurrence -> 'days' ? to_char(d.day, 'dy')
      and p_at >= s.at
      and p_at < s.at + make_interval(mins => (p_recurrence ->> 'minutes')::integer)
  );
exception when invalid_parameter_value then
  -- An update removed the zone. Its alerts are sent.
  return false;
end;
$$;

-- Returns p_recurrence with its days from Monday on, each once. Raises PT400 if it is invalid.
create function logloom_private.checked_recurrence(p_recurrence jsonb)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_days constant jsonb := '["mon", "tue", "wed", "thu", "fri", "sat", "sun"]';
begin
  if p_recurrence is null then
    return null;
  elsif jsonb_typeof(p_recurrence) <> 'object'
    or p_recurrence - '{days,start,minutes,time_zone}'::text[] <> '{}'
    or jsonb_typeof(p_recurrence -> 'days') is distinct from 'array'
    or p_recurrence -> 'days' = '[]'
    or not p_recurrence -> 'days' <@ v_days
    or p_recurrence ->> 'start' ~ '^([01]\d|2[0-3]):[0-5]\d$' is not true
    or jsonb_typeof(p_recurrence -> 'start') <> 'string'
    or (p_recurrence -> 'minutes')::text ~ '^\d{1,5}$' is not true
    or (p_recurrence ->> 'minutes')::integer not between 1 and 10080
    or not exists (
      select from pg_timezone_names z where z.name = p_recurrence ->> 'time_zone'
    )
  then
    perform logloom_private.refuse('alerts.recurrence_is_invalid');
  end if;
  return p_recurrence || jsonb_build_object('days', (
    select jsonb_agg(d.day order by d.n)
    from jsonb_array_elements(v_days) with ordinality d (day, n)
    where p_recurrence -> 'days' @> d.day
  ));
end;
$$;
