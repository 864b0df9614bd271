-- The elements of an array at places, in that order; null at a place that is null. A plan made for
-- these values would have the array as a constant, and walk over it from its beginning for each
-- element.
create function logloom_private.elements_at(p_values anyarray, p_places integer[])
returns anyarray
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
begin
  return array(select p_values[unnest(p_places)]);
end;
$$;
