create function logloom_private.refuse_slow_search()
returns void
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.refuse('search.took_too_long');
end;
$$;

revoke all on function logloom_private.refuse_slow_search() from public;

comment on function logloom_private.refuse_slow_search() is 'PT408.';

grant execute on function logloom_private.refuse_slow_search()
to authenticated, service_role;

create function logloom_private.refuse_search_away()
returns void
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.refuse_for_now(5, 'search.records_are_away');
end;
$$;

revoke all on function logloom_private.refuse_search_away() from public;

comment on function logloom_private.refuse_search_away() is
  'PT504, where records are spread and the node that has these does not answer: at a 503 PostgREST '
  'would connect anew and read its schema again, for everybody. What the node said has '
  'its address and is not for tenants.';

grant execute on function logloom_private.refuse_search_away()
to authenticated, service_role;
