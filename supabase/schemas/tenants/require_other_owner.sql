-- PT400 where the tenant has no owner but this user. The members are locked.
create function logloom_private.require_other_owner(p_tenant_id text, p_user_id text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (
    select from logloom.tenant_members m
    where m.tenant_id = p_tenant_id and m.role = 'owner' and m.user_id <> p_user_id
  ) then
    perform logloom_private.refuse('tenants.last_owner_stays');
  end if;
end;
$$;
