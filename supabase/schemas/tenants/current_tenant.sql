-- What a user is in a tenant: member, admin or owner. A tenant without members does not use roles,
-- each of its users is owner. Null for who does not belong to it, and in a tenant that is being
-- deleted.
create function logloom_private.acting_role(p_tenant_id text, p_user_id text)
returns text
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because the policies of these tables ask it
declare
  v_role text;
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
  if exists (select from logloom.tenant_members m where m.tenant_id = p_tenant_id) then
    return null;
  end if;
  return 'owner';
end;
$$;

grant execute on function logloom_private.acting_role(text, text) to authenticated, service_role;

-- Whether something of a deleted tenant is left. Its id names nobody meanwhile.
create function logloom_private.is_being_deleted(p_tenant_id text)
returns boolean
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads deletions of tenants
begin
  return exists (
    select
    from logloom_private.tenant_deletions d
    where d.tenant_id = p_tenant_id and d.finished_at is null
  );
end;
$$;

grant execute on function logloom_private.is_being_deleted(text) to authenticated, service_role;

-- The tenant that verified claims act for: the top-level claim tenant_id. Null where it cannot name
-- one, the token is not valid now, or its user does not belong to the tenant. RPC and ingest ask it
-- alike.
create function logloom_private.tenant_of_token(p_claims jsonb)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id text;
begin
  if jsonb_typeof(p_claims -> 'tenant_id') <> 'string' then
    return null;
  end if;
  v_tenant_id := logloom_private.usable_id(p_claims ->> 'tenant_id');
  if v_tenant_id is null or not logloom_private.token_is_valid(p_claims)
    or logloom_private.acting_role(v_tenant_id, p_claims ->> 'sub') is null
  then
    return null;
  end if;
  return v_tenant_id;
end;
$$;

grant execute on function logloom_private.tenant_of_token(jsonb) to authenticated, service_role;

-- The tenant of the request's token, see tenant_of_token(). Null if unusable.
create function logloom_private.current_tenant_id()
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if current_setting('role', true) = 'anon' then
    return null;
  end if;
  return logloom_private.tenant_of_token(logloom_private.claims());
end;
$$;

grant execute on function logloom_private.current_tenant_id()
to anon, authenticated, service_role;

-- The tenant that an operation acts for. Users: the token's, PT403 when p_tenant_id differs.
-- service_role: p_tenant_id, PT400 without it. PT401 without a usable tenant.
create function logloom_private.resolve_tenant(p_tenant_id text default null)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_claims jsonb;
  v_tenant_id text;
begin
  if logloom_private.is_service_role() then
    v_claims := logloom_private.claims();
    -- No claims: not a request, but somebody at the database.
    if not logloom_private.service_token_is_valid(v_claims) and v_claims is not null then
      perform logloom_private.refuse('callers.not_known');
    end if;
    if p_tenant_id is null then
      perform logloom_private.refuse('callers.tenant_must_be_named');
    end if;
    v_tenant_id := logloom_private.usable_id(p_tenant_id);
    if v_tenant_id is null then
      perform logloom_private.refuse('callers.tenant_is_invalid');
    end if;
    if logloom_private.is_being_deleted(v_tenant_id) then
      perform logloom_private.refuse('tenants.being_deleted');
    end if;
    return v_tenant_id;
  end if;

  v_tenant_id := logloom_private.current_tenant_id();
  if v_tenant_id is null then
    perform logloom_private.refuse('callers.tenant_is_missing');
  end if;
  if p_tenant_id <> v_tenant_id then
    perform logloom_private.refuse('callers.tenant_is_another');
  end if;
  return v_tenant_id;
end;
$$;

grant execute on function logloom_private.resolve_tenant(text)
to anon, authenticated, service_role;

-- resolve_tenant() for an operation that changes something: PT403 for the token of an OAuth client
-- that may only read.
create function logloom_private.resolve_tenant_to_change(p_tenant_id text default null)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
begin
  perform logloom_private.require_writing_client(logloom_private.claims());
  return v_tenant_id;
end;
$$;

grant execute on function logloom_private.resolve_tenant_to_change(text)
to authenticated, service_role;

-- PT403 unless the caller is at least p_role in the tenant: member, admin or owner. service_role
-- may do everything.
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
  v_role := logloom_private.acting_role(p_tenant_id, logloom_private.current_user_id());
  if array_position(v_roles, v_role) >= array_position(v_roles, p_role) then
    return;
  end if;
  perform logloom_private.refuse('callers.role_is_missing', p_role);
end;
$$;

grant execute on function logloom_private.require_role(text, text) to authenticated, service_role;
