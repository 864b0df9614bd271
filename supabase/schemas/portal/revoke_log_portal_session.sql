create function logloom_private.end_portal_session(p_tenant_id text, p_session_id uuid)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes sessions
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_session logloom.portal_sessions;
begin
  perform
    logloom_private.require_role(v_tenant_id, 'admin'),
    logloom_private.require_parameter('p_session_id', p_session_id is null);
  select s.* into v_session
  from logloom.portal_sessions s
  where s.tenant_id = v_tenant_id and s.session_id = p_session_id
  for no key update;
  if not found then
    perform logloom_private.refuse('portal.session_not_found');
  elsif v_session.revoked_at is not null then
    return;
  end if;
  update logloom.portal_sessions s set revoked_at = now() where s.session_id = p_session_id;
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_tenant_id, logloom_private.actor(), 'portal_session.revoked', p_session_id::text,
    jsonb_strip_nulls(jsonb_build_object(
      'first_used_at', v_session.first_used_at, 'last_used_at', v_session.last_used_at
    ))
  );
end;
$$;

create function public.revoke_log_portal_session(
  p_tenant_id text default null,
  p_session_id uuid default null
)
returns public.logloom_success
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.end_portal_session(p_tenant_id, p_session_id);
  return row(true)::public.logloom_success;
end;
$$;

comment on function public.revoke_log_portal_session(text, uuid) is
  'Revokes a portal session; the next request with its token is refused. Again: no change. '
  'Errors: PT400, PT401, PT403, PT404.';
