-- Supabase Auth's custom access token hook. Sets the claim tenant_id to app_metadata.tenant_id, if
-- the user belongs to that tenant. If app_metadata names no tenant, takes the tenant that the user
-- chose last, or else joined first. A user without a tenant gets no claim, and so no access.
create function logloom_private.custom_access_token_hook(event jsonb)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Only administrators of Auth can write app_metadata. Users can write user_metadata.
  v_choice constant jsonb := nullif(event #> '{claims,app_metadata,tenant_id}', 'null');
  v_claims jsonb := (event -> 'claims') - 'tenant_id';
  v_tenant_id text;
begin
  select m.tenant_id into v_tenant_id
  from logloom.tenant_members m
  where m.user_id = event ->> 'user_id'
    and (v_choice is null or to_jsonb(m.tenant_id) = v_choice)
  order by m.chosen_at desc nulls last, m.created_at, m.tenant_id
  limit 1;
  if found then
    v_claims := v_claims || jsonb_build_object('tenant_id', v_tenant_id);
  end if;
  return jsonb_build_object('claims', v_claims);
end;
$$;

grant execute on function logloom_private.custom_access_token_hook(jsonb) to supabase_auth_admin;
