-- Creates a key from checked parameters and returns it with key_value.
create function logloom_private.issue_api_key(
  p_tenant_id text,
  p_name text,
  p_expires_at timestamptz,
  p_scopes text[],
  p_view_id uuid
)
returns public.logloom_created_api_key
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key_value constant text := logloom_private.new_api_key();
  v_result public.logloom_created_api_key;
begin
  insert into logloom.api_keys (
    tenant_id, name, key_prefix, key_digest, scopes, created_by, expires_at, view_id, lifetime
  )
  values (
    p_tenant_id, p_name, left(v_key_value, 11), sha256(convert_to(v_key_value, 'UTF8')),
    array(select distinct unnest(p_scopes)), logloom_private.current_user_id(), p_expires_at,
    p_view_id, p_expires_at - now()
  )
  returning
    key_id, tenant_id, name, key_prefix, v_key_value, scopes,
    logloom_private.api_key_status(revoked_at, expires_at), created_at, expires_at,
    view_id
  into v_result;
  return v_result;
end;
$$;
