-- Whether the user of verified claims is a viewer of the tenant, who has the reading operations
-- within a view and reaches no table.
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
