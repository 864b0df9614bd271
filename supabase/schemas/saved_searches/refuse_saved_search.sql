-- Says why the caller may not change a saved search: PT404, or PT403 where it is a colleague's.
create function logloom_private.refuse_saved_search(p_id uuid)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from logloom.saved_searches s where s.id = p_id) then
    perform logloom_private.refuse('saved_searches.not_its_creator');
  end if;
  perform logloom_private.refuse('saved_searches.not_found');
end;
$$;
