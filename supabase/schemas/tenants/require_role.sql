-- PT403 unless the caller is at least p_role in the tenant: member, admin or owner, which a viewer
-- is not. service_role may do everything.
create function logloom_private.require_role(p_tenant_id text, p_role text)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_roles constant text[] := array['member', 'admin', 'owner'];
  v_role text;
begin
  if logloom_private.is_service_role() then
    return;
  end if;
  v_role := logloom_private.acting_role(
    p_tenant_id, logloom_private.current_user_id(), logloom_private.claims()
  );
  if array_position(v_roles, v_role) >= array_position(v_roles, p_role) then
    return;
  end if;
  perform logloom_private.refuse('callers.role_is_missing', p_role);
end;
$$;
