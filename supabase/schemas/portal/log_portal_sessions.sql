-- Revokes sessions and returns how many were not revoked yet. p_details: what their audit events
-- have besides the first and last use.
create function logloom_private.revoke_sessions(p_session_ids uuid[], p_details jsonb)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_revoked integer;
begin
  with revoked as (
    update logloom.portal_sessions s
    set revoked_at = now()
    where s.session_id = any (p_session_ids) and s.revoked_at is null
    returning s.*
  )
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  select
    r.tenant_id, logloom_private.actor(), 'portal_session.revoked', r.session_id::text,
    p_details || jsonb_strip_nulls(jsonb_build_object(
      'first_used_at', r.first_used_at, 'last_used_at', r.last_used_at
    ))
  from revoked r;
  get diagnostics v_revoked = row_count;
  return v_revoked;
end;
$$;

-- Revokes the portal sessions of a member who is removed or may no longer create sessions. The
-- sessions stay revoked if the member returns.
create function logloom_private.end_sessions_of_member()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes sessions
begin
  perform logloom_private.revoke_sessions(
    array(
      select s.session_id
      from logloom.portal_sessions s
      where s.tenant_id = old.tenant_id and s.created_by = old.user_id and s.expires_at > now()
    ),
    jsonb_build_object('created_by', old.user_id)
  );
  return null;
end;
$$;

create trigger end_sessions_of_removed_member
after delete on logloom.tenant_members
for each row execute function logloom_private.end_sessions_of_member();

create trigger end_sessions_of_lesser_member
after update of role on logloom.tenant_members
for each row when (new.role not in ('admin', 'owner') and old.role in ('admin', 'owner'))
execute function logloom_private.end_sessions_of_member();

create function public.list_log_portal_sessions(
  p_tenant_id text default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_portal_session
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'portal session', 'session_id',
    (
      select s.created_at from logloom.portal_sessions s
      where s.tenant_id = v_tenant_id and s.session_id = p_after
    )
  );
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  return query
  select
    s.session_id, s.tenant_id, s.label, s.view_id, s.query_dsl, s.origins,
    logloom_private.api_key_status(s.revoked_at, least(s.expires_at, s.code_expires_at)),
    s.created_by, s.created_at, s.expires_at, s.revoked_at, s.first_used_at, s.last_used_at,
    s.customer, s.limits, s.parts, s.variables
  from logloom.portal_sessions s
  where s.tenant_id = v_tenant_id
    and (p_after is null or (s.created_at, s.session_id) < (v_after, p_after))
  order by s.created_at desc, s.session_id desc
  limit v_limit;
end;
$$;

comment on function public.list_log_portal_sessions(text, integer, uuid) is
  'Lists the tenant''s portal sessions of the last 30 days, newest first. p_limit 1 to 1000 '
  '(default 100), p_after: session_id of the last item of the page before. Errors: PT400, PT401, '
  'PT403.';

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
  'For the function logloom-read: exchanges the code of a link for the token of its session, once. '
  'p_code_digest: SHA-256 of the code as hex. Errors: PT400, PT401.';

create function logloom_private.end_portal_session(p_tenant_id text, p_session_id uuid)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes sessions
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
begin
  perform
    logloom_private.require_role(v_tenant_id, 'admin'),
    logloom_private.require_parameter('p_session_id', p_session_id is null);
  if not exists (
    select from logloom.portal_sessions s
    where s.tenant_id = v_tenant_id and s.session_id = p_session_id
  ) then
    perform logloom_private.refuse('portal.session_not_found');
  end if;
  perform logloom_private.revoke_sessions(array[p_session_id], '{}');
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
  'Revokes a portal session: its next request is refused. Revoking it again changes nothing. '
  'Errors: PT400, PT401, PT403, PT404.';
