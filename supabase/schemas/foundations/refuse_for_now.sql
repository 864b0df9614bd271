create function logloom_private.refuse_for_now(p_message text, p_hint text, p_seconds integer)
returns void
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  -- PostgREST's way to an answer with headers.
  raise sqlstate 'PGRST' using
    message = json_build_object('code', 'PT429', 'message', p_message, 'hint', p_hint),
    detail = json_build_object(
      'status', 429, 'headers', json_build_object('Retry-After', p_seconds::text)
    );
end;
$$;

revoke all on function logloom_private.refuse_for_now(text, text, integer) from public;

grant execute on function logloom_private.refuse_for_now(text, text, integer)
to authenticated, service_role;

comment on function logloom_private.refuse_for_now(text, text, integer) is
  'PT429 with Retry-After: what is asked is in order, but not now.';
