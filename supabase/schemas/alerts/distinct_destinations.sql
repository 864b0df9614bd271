-- Each destination once, in the order of the first mention. Null where there is none.
create function logloom_private.distinct_destinations(p_destinations text[])
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select array_agg(d.destination order by d.first_at)
    from (
      select u.destination, min(u.i) as first_at
      from unnest(p_destinations) with ordinality u (destination, i)
      group by u.destination
    ) d
  );
end;
$$;

grant execute on function logloom_private.distinct_destinations(text[])
to authenticated, service_role;
