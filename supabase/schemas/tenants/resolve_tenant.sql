-- Returns the tenant of verified claims: their top-level claim tenant_id. Null if the id is not
-- usable, the token is not valid now, or its user does not belong to the tenant. Operations and
-- ingest both use it.
create function logloom_private.tenant_of_claims(p_claims jsonb)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id text;
begin
  if current_setting('role', true) = 'anon' or jsonb_typeof(p_claims -> 'tenant_id') <> 'string'
  then
    return null;
  end if;
  v_tenant_id := logloom_private.usable_id(p_claims ->> 'tenant_id');
  if v_tenant_id is null or not logloom_private.token_is_valid(p_claims)
    or logloom_private.acting_role(v_tenant_id, p_claims ->> 'sub', p_claims) is null
  then
    return null;
  end if;
  return v_tenant_id;
end;
$$;

-- Returns the tenant of a request, without checking what the request may do.
-- - For a user: the token's tenant. PT403 if p_tenant_id is another one.
-- - For service_role: p_tenant_id. PT400 if it is missing.
-- - PT401 if there is no usable tenant.
create function logloom_private.caller_tenant(p_tenant_id text default null)
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
    -- Without claims this is not a request but a session of the database.
    if not logloom_private.token_is_valid(v_claims, true) and v_claims is not null then
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

  v_tenant_id := logloom_private.tenant_of_claims(logloom_private.claims());
  if v_tenant_id is null then
    perform logloom_private.refuse('callers.tenant_is_missing');
  end if;
  if p_tenant_id <> v_tenant_id then
    perform logloom_private.refuse('callers.tenant_is_another');
  end if;
  return v_tenant_id;
end;
$$;

-- True while data of a deleted tenant is left. Meanwhile nobody can use its id.
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

-- Creates the tenant if needed and locks it until the transaction ends. Without the lock, two
-- requests could both take the last place that a plan allows.
create function logloom_private.hold_tenant(p_tenant_id text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.provision_tenant(p_tenant_id, logloom_private.claims());
  perform from logloom.tenants t where t.tenant_id = p_tenant_id for no key update;
end;
$$;

-- Returns the tenant that an operation acts for, from caller_tenant(). Raises PT403 for the token
-- of a viewer, or of an OAuth client that may only read. Every operation calls it first, except
-- reading operations, which make a scope instead.
create function logloom_private.resolve_tenant(p_tenant_id text default null)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.caller_tenant(p_tenant_id);
begin
  if not logloom_private.is_service_role() then
    perform logloom_private.require_writing_client(logloom_private.claims());
    if logloom_private.is_viewer(v_tenant_id, logloom_private.claims()) then
      perform logloom_private.refuse('callers.viewer_may_only_read');
    end if;
  end if;
  return v_tenant_id;
end;
$$;

-- Returns resolve_tenant() for an operation that changes something. Raises PT403 for an OAuth
-- client that may only read.
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
