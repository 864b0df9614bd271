-- The tenant that verified claims act for: the top-level claim tenant_id. Null where it cannot name
-- one, the token is not valid now, or its user does not belong to the tenant. RPC and ingest ask it
-- alike.
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
