-- PT504: at a 503 PostgREST would connect anew and read its schema again, for everybody.
create function logloom_private.refuse_search_away()
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.refuse_for_now(5, 'search.records_are_away');
end;
$$;

grant execute on function logloom_private.refuse_search_away()
to authenticated, service_role;
