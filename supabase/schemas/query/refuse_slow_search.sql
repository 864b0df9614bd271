create function logloom_private.refuse_slow_search()
returns void
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  perform logloom_private.refuse('search.took_too_long');
end;
$$;

revoke all on function logloom_private.refuse_slow_search() from public;

comment on function logloom_private.refuse_slow_search() is 'PT408.';

grant execute on function logloom_private.refuse_slow_search()
to authenticated, service_role;
