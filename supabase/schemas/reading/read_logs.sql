-- Returns the answer to an API key or a portal session. p_digest is the SHA-256 of its secret as
-- hex. The use is stored after the answer, because this locks the row of the key or session. So a
-- search never blocks a revocation, or the deletion of the tenant.
create function logloom_private.read_by_key(
  p_digest text,
  p_operation text,
  p_parameters jsonb,
  p_origin text
)
returns json
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads the digests of keys
declare
  v_session logloom.portal_sessions;
  v_scope logloom_private.reading_scope;
  v_answer json;
begin
  select s.* into v_session
  from logloom.portal_sessions s
  where s.token_digest = decode(p_digest, 'hex');
  if found then
    v_scope := logloom_private.scope_of_session(v_session, p_origin);
    perform logloom_private.take_portal_read(v_scope.tenant_id);
    v_answer := logloom_private.read_in_scope(v_scope, p_operation, p_parameters);
    perform logloom_private.note_session_use(v_session);
    return v_answer;
  end if;
  v_answer := logloom_private.read_in_scope(
    logloom_private.scope_of_key(p_digest, p_operation), p_operation, p_parameters
  );
  perform logloom_private.note_key_read(p_digest, p_operation);
  return v_answer;
end;
$$;

create function public.read_logs(
  p_key_digest text default null,
  p_operation text default null,
  p_parameters jsonb default null,
  p_origin text default null
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
  return logloom_private.read_by_key(
    p_key_digest, p_operation, coalesce(p_parameters, '{}'), p_origin
  );
end;
$$;

comment on function public.read_logs(text, text, jsonb, text) is
  'For the function logloom-read. Returns the answer of an operation to an API key with the scope '
  'read or audit, or to a portal session. p_key_digest: SHA-256 of the key or token as hex. '
  'p_parameters: the operation''s parameters by name. p_origin: the origin of the page that frames '
  'the portal. Errors: PT400, PT401, PT403, PT404, PT408, PT429.';
