-- What a user is in a tenant: viewer, member, admin or owner. A member's row says it; without one
-- the role in their token, where settings.roles_from_token is on. A tenant without members does not
-- use roles, each of its users is owner, unless the settings require them. Null for who does not
-- belong to it, and in a tenant that is being deleted.
create function logloom_private.acting_role(
  p_tenant_id text,
  p_user_id text,
  p_claims jsonb default null
)
returns text
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because the policies of these tables ask it
declare
  v_role text;
  v_required boolean;
  v_from_token boolean;
begin
  if logloom_private.is_being_deleted(p_tenant_id) then
    return null;
  end if;
  select m.role into v_role
  from logloom.tenant_members m
  where m.tenant_id = p_tenant_id and m.user_id = p_user_id;
  if found then
    return v_role;
  end if;
  select s.roles_required, s.roles_from_token into v_required, v_from_token
  from logloom_private.settings s;
  if v_from_token then
    -- Only an administrator of Auth writes app_metadata; user_metadata is the user's own.
    v_role := p_claims -> 'app_metadata' ->> 'logloom_role';
    return case when v_role in ('viewer', 'member', 'admin', 'owner') then v_role end;
  elsif v_required or exists (select from logloom.tenant_members m where m.tenant_id = p_tenant_id)
  then
    return null;
  end if;
  return 'owner';
end;
$$;
