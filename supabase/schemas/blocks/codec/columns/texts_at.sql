-- The elements at ascending places. A few are found by walking over those before them, which takes
-- less than to learn where each one begins.
create function logloom_private.texts_at(p_texts text[], p_places integer[])
returns text[]
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
as $$
begin
  if cardinality(p_places) < 20 then
    return array(
      select p_texts[p.place] from unnest(p_places) with ordinality p (place, n) order by p.n
    );
  end if;
  -- Not "= any(p_places)": a plan made for any values compares each element with each place.
  return logloom_private.elements_at(p_texts, p_places);
end;
$$;
