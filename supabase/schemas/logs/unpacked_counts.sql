-- The counts that are packed in a row.
create function logloom_private.unpacked_counts(p_week logloom_private.packed_counts)
returns setof logloom_private.minute_count
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select
    p_week.week::timestamp at time zone 'UTC' + make_interval(mins => c.minute),
    c.events::bigint, c.place = 0,
    case c.level
      when 'd' then 'debug' when 'i' then 'info' when 'w' then 'warn' when 'e' then 'error'
    end,
    p_week.services[c.place]
  from unnest(p_week.minutes, p_week.events, p_week.levels, p_week.places)
    c (minute, events, level, place);
end;
$$;
