-- PT408.
create function logloom_private.refuse_slow_search()
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.refuse('search.took_too_long');
end;
$$;

grant execute on function logloom_private.refuse_slow_search()
to authenticated, service_role;
