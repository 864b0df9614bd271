-- A portal session lives no longer than its maker may make one.
create function logloom_private.portal_session_is_alive(p_session logloom.portal_sessions)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_role constant text := logloom_private.acting_role(p_session.tenant_id, p_session.created_by);
begin
  return p_session.expires_at > now()
    and p_session.revoked_at is null
    and not logloom_private.is_being_deleted(p_session.tenant_id)
    and (
      p_session.created_by is null
      -- Without a row only their next token would say whether they still have the role.
      or coalesce(
        v_role in ('admin', 'owner'),
        (select s.roles_from_token from logloom_private.settings s)
      )
    );
end;
$$;
