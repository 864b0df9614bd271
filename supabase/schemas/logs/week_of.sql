-- The Monday of a day's week.
create function logloom_private.week_of(p_day date)
returns date
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return p_day - (extract(isodow from p_day)::integer - 1);
end;
$$;
