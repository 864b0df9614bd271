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
    s.created_by, s.created_at, s.expires_at, s.revoked_at, s.first_used_at, s.last_used_at
  from logloom.portal_sessions s
  where s.tenant_id = v_tenant_id
    and (p_after is null or (s.created_at, s.session_id) < (v_after, p_after))
  order by s.created_at desc, s.session_id desc
  limit v_limit;
end;
$$;

comment on function public.list_log_portal_sessions(text, integer, uuid) is
  'Portal sessions of the tenant, newest first, those of the last 30 days. p_limit 1 to 1000 '
  '(default 100), p_after: session_id of the last item of the page before. '
  'Errors: PT400, PT401, PT403.';
