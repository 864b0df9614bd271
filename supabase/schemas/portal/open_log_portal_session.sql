create function logloom_private.open_portal_session(p_code_digest text)
returns public.logloom_opened_portal_session
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads the digests of codes
declare
  v_token constant text := logloom_private.new_api_key('llp_');
  v_session logloom.portal_sessions;
begin
  update logloom.portal_sessions s
  set
    token_digest = sha256(convert_to(v_token, 'UTF8')),
    code_digest = null,
    code_expires_at = null
  where s.code_digest = decode(p_code_digest, 'hex')
    and s.code_expires_at > now()
    and logloom_private.portal_session_is_alive(s)
  returning s.* into v_session;
  if not found then
    perform logloom_private.refuse('callers.portal_code_is_spent');
  end if;
  return row(v_session.session_id, v_token, v_session.expires_at)
    ::public.logloom_opened_portal_session;
end;
$$;

create function public.open_log_portal_session(p_code_digest text default null)
returns public.logloom_opened_portal_session
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.require_parameter('p_code_digest', p_code_digest is null);
  return logloom_private.open_portal_session(p_code_digest);
end;
$$;

comment on function public.open_log_portal_session(text) is
  'For the function logloom-read: the token of the session whose link has a code, of which '
  'p_code_digest is the SHA-256 as hex, once. Errors: PT400, PT401.';
