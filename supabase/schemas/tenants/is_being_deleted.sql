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
