create function logloom_private.refuse_slow_search()
returns void
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  raise sqlstate 'PT408' using
    message = 'The search took too long',
    hint = 'Narrow it: a shorter range of time, or a filter by level, service or req_id.';
end;
$$;

revoke all on function logloom_private.refuse_slow_search() from public;

comment on function logloom_private.refuse_slow_search() is 'PT408.';

grant execute on function logloom_private.refuse_slow_search()
to authenticated, service_role;
