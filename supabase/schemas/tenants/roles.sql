-- Returns the role of a user in a tenant: viewer, member, admin or owner. The role is in the user's
-- row in tenant_members. Without a row it is in the token, if settings.roles_from_token is on. In a
-- tenant without members every user is owner, unless settings.roles_required or roles_from_token is
-- on. Null for a user who does not belong to the tenant, and in a tenant that is being deleted.
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
-- definer because policies call it and it reads their tables: as invoker it would call itself
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
    -- Only administrators of Auth can write app_metadata. Users can write user_metadata.
    v_role := p_claims -> 'app_metadata' ->> 'logloom_role';
    return case when v_role in ('viewer', 'member', 'admin', 'owner') then v_role end;
  elsif v_required or exists (select from logloom.tenant_members m where m.tenant_id = p_tenant_id)
  then
    return null;
  end if;
  return 'owner';
end;
$$;

-- True if the user of verified claims is a viewer of the tenant. Viewers use the reading operations
-- within a view, and reach no table.
create function logloom_private.is_viewer(p_tenant_id text, p_claims jsonb)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(
    logloom_private.acting_role(p_tenant_id, p_claims ->> 'sub', p_claims) = 'viewer', false
  );
end;
$$;

-- Raises PT403 unless the caller's role in the tenant is at least p_role: member, admin or owner.
-- Viewers are below members. service_role may do everything.
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

-- Raises PT400 if p_role is not a role, if a viewer has no view, or if another role has a view.
create function logloom_private.require_member_role(p_role text, p_view_id uuid)
returns void
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_role not in ('viewer', 'member', 'admin', 'owner') then
    perform logloom_private.refuse('tenants.role_is_unknown');
  elsif p_role = 'viewer' and p_view_id is null then
    perform logloom_private.refuse('tenants.viewer_needs_a_view');
  elsif p_role <> 'viewer' and p_view_id is not null then
    perform logloom_private.refuse('tenants.view_is_for_viewers');
  end if;
end;
$$;

-- Raises PT403 unless the caller is an admin, and PT404 if the tenant does not have the view. Does
-- nothing if p_view_id is null.
create function logloom_private.require_view_by_admin(p_tenant_id text, p_view_id uuid)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_view_id is not null then
    perform logloom_private.require_role(p_tenant_id, 'admin');
    perform logloom_private.hold_view(p_tenant_id, p_view_id);
  end if;
end;
$$;
