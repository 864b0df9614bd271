-- Deletes the writer's rows of a deleted tenant. A trigger does this, because with foreign keys,
-- deleting a tenant during a step of the writer would fail the step for all tenants.
create function logloom_private.forget_tenant()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because whoever deletes a tenant has no rights on these tables
begin
  delete from logloom_private.dead_letters d where d.tenant_id = old.tenant_id;
  delete from logloom.usage_days u where u.tenant_id = old.tenant_id;
  return null;
end;
$$;

create trigger tenants_forget
after delete on logloom.tenants
for each row execute function logloom_private.forget_tenant();
