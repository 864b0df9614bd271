-- Whether the aggregate of a window follows from those of its minutes.
create function logloom_private.has_partials(p_aggregate text)
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return p_aggregate in ('count', 'rate', 'sum', 'avg', 'min', 'max');
end;
$$;
