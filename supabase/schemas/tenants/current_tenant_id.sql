-- Returns the tenant whose rows the request's token can reach. Every policy calls it. Null for a
-- token that may only read: the token can call the reading operations, but cannot read tables.
create function logloom_private.current_tenant_id(p_claims jsonb default logloom_private.claims())
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.tenant_of_claims(p_claims);
begin
  if v_tenant_id is null or logloom_private.reads_only(p_claims)
    or logloom_private.is_viewer(v_tenant_id, p_claims)
  then
    return null;
  end if;
  return v_tenant_id;
end;
$$;

-- Returns current_tenant_id() if the user is an admin of that tenant, otherwise null. Policies use
-- it for rows that members may not change.
create function logloom_private.current_admin_tenant_id()
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.current_tenant_id();
begin
  if logloom_private.acting_role(
    v_tenant_id, logloom_private.current_user_id(), logloom_private.claims()
  ) in ('admin', 'owner')
  then
    return v_tenant_id;
  end if;
  return null;
end;
$$;
