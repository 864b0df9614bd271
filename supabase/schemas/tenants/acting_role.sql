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
begin
  return case when not logloom_private.is_being_deleted(p_tenant_id) then coalesce(
    (
      select m.role from logloom.tenant_members m
      where m.tenant_id = p_tenant_id and m.user_id = p_user_id
    ),
    case
      when not exists (select from logloom.tenant_members m where m.tenant_id = p_tenant_id)
        then 'owner'
    end
  ) end;
end;
$$;
