create function logloom_private.read_by_key(
  p_key_digest text,
  p_operation text,
  p_parameters jsonb
)
returns json
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads the digests of keys
declare
  v_answer json;
begin
  v_answer := logloom_private.read_in_scope(
    logloom_private.scope_of_key(p_key_digest), p_operation, p_parameters
  );
  perform logloom_private.note_key_read(p_key_digest, p_operation);
  return v_answer;
end;
$$;

create function public.read_logs(
  p_key_digest text default null,
  p_operation text default null,
  p_parameters jsonb default null
)
returns json
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
begin
  perform
    logloom_private.require_parameter('p_key_digest', p_key_digest is null),
    logloom_private.require_parameter('p_operation', p_operation is null);
  return logloom_private.read_by_key(p_key_digest, p_operation, coalesce(p_parameters, '{}'));
end;
$$;

comment on function public.read_logs(text, text, jsonb) is
  'For the function logloom-read: what an operation answers to an API key with the scope read, of '
  'which p_key_digest is the SHA-256 as hex. p_parameters: those of the operation by name. '
  'Errors: PT400, PT401, PT403, PT404, PT408, PT429.';
