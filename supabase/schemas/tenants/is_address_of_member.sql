-- Whether a member of the tenant confirmed this email address to Supabase Auth. What
-- add_tenant_member was given is a label, and proves nothing.
create function logloom_private.is_address_of_member(p_tenant_id text, p_address text)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
    select
    from logloom_private.auth_users_by_id(
      array(select m.user_id from logloom.tenant_members m where m.tenant_id = p_tenant_id)
    ) u
    where lower(u.email) = lower(p_address)
  );
end;
$$;
