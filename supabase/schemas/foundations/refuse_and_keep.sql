create function logloom_private.refuse_and_keep(p_message text, p_hint text)
returns jsonb
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  -- PostgREST's way to the status of an answer; an error raised would take back what was written.
  perform set_config('response.status', '400', true);
  return jsonb_build_object(
    'code', 'PT400', 'message', p_message, 'details', null, 'hint', p_hint
  );
end;
$$;

revoke all on function logloom_private.refuse_and_keep(text, text) from public;

comment on function logloom_private.refuse_and_keep(text, text) is
  'The answer of an operation that is refused with PT400, whose transaction is committed all the '
  'same: for what counts failures.';
