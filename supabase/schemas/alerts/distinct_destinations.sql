-- Each destination once, in the order of the first mention.
create function logloom_private.distinct_destinations(p_destinations text[])
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select d.destination
    from unnest(p_destinations) with ordinality d (destination, i)
    group by d.destination
    order by min(d.i)
  );
end;
$$;
